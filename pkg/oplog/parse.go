package oplog

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// A timeParser reads RFC 3339. The times of a row mostly share their second,
// and neighbouring rows their minute, so what those are is kept.
type timeParser struct {
	minute [17]byte // "2006-01-02T15:04:" that base belongs to
	base   int64    // unix seconds of that minute in UTC
	valid  bool
	words  [3]uint64 // "2006-01-02T15:04:05." that nanos belongs to; 0 where there is none
	nanos  int64
}

const timeLength = len("2006-01-02T15:04:05.999999999Z")

// parse returns unix nanoseconds.
func (p *timeParser) parse(b []byte) (int64, bool) {
	if len(b) == timeLength {
		if ns, ok := p.near(b); ok {
			return ns, true
		}
	}
	return p.parseAny(b)
}

// near reads a time of the second that was read last.
func (p *timeParser) near(b []byte) (int64, bool) {
	_ = b[timeLength-1]
	if !p.inSecond(b) || b[timeLength-1] != 'Z' {
		return 0, false
	}
	frac, ok := eightDigits(b[20:])
	d := b[28] - '0'
	return p.nanos + int64(frac)*10 + int64(d), ok && d <= 9
}

// inSecond says whether a time is one of the second that was read last, as far as the point.
func (p *timeParser) inSecond(b []byte) bool {
	return binary.LittleEndian.Uint64(b) == p.words[0] && binary.LittleEndian.Uint64(b[8:]) == p.words[1] &&
		binary.LittleEndian.Uint32(b[16:]) == uint32(p.words[2]) && p.words[0] != 0
}

// nearShort reads a time of that second that is written without the zeros at its end, as many implementations do, and the
// tab behind it. It returns how long both are; 0 if it is another time.
func (p *timeParser) nearShort(b []byte) (ns int64, n int) {
	_ = b[fastRoom-1]
	if !p.inSecond(b) {
		return 0, 0
	}
	frac, digits := shortNumber(b[20:])
	if digits == 0 || b[20+digits] != 'Z' || b[21+digits] != '\t' {
		return 0, 0
	}
	return p.nanos + int64(frac)*tenTo[9-digits], 22 + digits
}

var tenTo = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// parseAny takes any number of digits and any zone.
func (p *timeParser) parseAny(b []byte) (int64, bool) {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(b) < shortest {
		return 0, false
	}
	if !p.valid || string(b[:17]) != string(p.minute[:]) {
		if !p.setMinute(b) {
			return 0, false
		}
	}
	s, ok := twoDigits(b[17:])
	if !ok || s > 59 {
		return 0, false
	}
	second := p.base + int64(s)
	frac, i, ok := parseFraction(b, 19)
	if !ok {
		return 0, false
	}
	if i == len(b)-1 && b[i] == 'Z' {
		if i > 19 {
			p.words = [3]uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]),
				uint64(binary.LittleEndian.Uint32(b[16:]))}
			p.nanos = second * 1e9
		}
		return second*1e9 + frac, true
	}
	zone, ok := parseZone(b[i:])
	return (second-zone)*1e9 + frac, ok
}

// parseFraction parses up to nine digits after a point and returns where they end.
func parseFraction(b []byte, i int) (frac int64, end int, ok bool) {
	if b[i] != '.' {
		return 0, i, true
	}
	digits := 0
	for i++; i < len(b) && b[i]-'0' <= 9; i++ {
		if digits++; digits > 9 {
			return 0, i, false
		}
		frac = frac*10 + int64(b[i]-'0')
	}
	if digits == 0 {
		return 0, i, false
	}
	for ; digits < 9; digits++ {
		frac *= 10
	}
	return frac, i, true
}

// eightDigits parses eight decimal digits at once: neighbouring digits are
// joined to pairs, pairs to fours, fours to the number.
func eightDigits(b []byte) (uint64, bool) {
	x := binary.LittleEndian.Uint64(b)
	const sixes, high = 0x0606060606060606, 0xf0f0f0f0f0f0f0f0
	if x&high != 0x3030303030303030 || (x+sixes)&high != 0x3030303030303030 {
		return 0, false
	}
	return joinDigits(x & 0x0f0f0f0f0f0f0f0f), true
}

// joinDigits makes a number of eight bytes that are its digits, the first one lowest.
func joinDigits(x uint64) uint64 {
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	return (x*10_000 + x>>32) & 0xffffffff
}

// findTabs stores where the tabs of line are, as many as at has room for, and
// returns how many there are. It also says whether there is a NUL. Eight bytes
// are looked at together: what matters are bytes below ten.
func findTabs(line []byte, at []int) (n int, nul bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(line); i += 8 {
		x := binary.LittleEndian.Uint64(line[i:])
		// A byte after one below ten may be marked wrongly, so each is looked at.
		for low := (x - ones*10) & ^x & highs; low != 0; low &= low - 1 {
			k := i + bits.TrailingZeros64(low)>>3
			if c := line[k]; c == '\t' {
				if n < len(at) {
					at[n] = k
				}
				n++
			} else if c == 0 {
				nul = true
			}
		}
	}
	for ; i < len(line); i++ {
		if c := line[i]; c == '\t' {
			if n < len(at) {
				at[n] = i
			}
			n++
		} else if c == 0 {
			nul = true
		}
	}
	return n, nul
}

// setMinute parses the part that is cached.
func (p *timeParser) setMinute(b []byte) bool {
	p.valid = false
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return false
	}
	year, ok1 := twoDigits(b[0:])
	year2, ok2 := twoDigits(b[2:])
	month, ok3 := twoDigits(b[5:])
	day, ok4 := twoDigits(b[8:])
	hour, ok5 := twoDigits(b[11:])
	minute, ok6 := twoDigits(b[14:])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || hour > 23 || minute > 59 {
		return false
	}
	year = year*100 + year2
	// Nanoseconds in 64 bits reach from 1677 to 2262; a day on each side is
	// left for zones.
	if year < 1678 || year > 2261 {
		return false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, 0, 0, time.UTC)
	if t.Month() != time.Month(month) || t.Day() != day {
		return false
	}
	p.base = t.Unix()
	copy(p.minute[:], b)
	p.valid = true
	return true
}

// parseZone parses "+01:00" into seconds.
func parseZone(b []byte) (int64, bool) {
	if len(b) != 6 || (b[0] != '+' && b[0] != '-') || b[3] != ':' {
		return 0, false
	}
	hours, ok1 := twoDigits(b[1:])
	minutes, ok2 := twoDigits(b[4:])
	if !ok1 || !ok2 || hours > 23 || minutes > 59 {
		return 0, false
	}
	zone := int64(hours*3600 + minutes*60)
	if b[0] == '-' {
		zone = -zone
	}
	return zone, true
}

func twoDigits(b []byte) (int, bool) {
	d1, d0 := b[0]-'0', b[1]-'0'
	return int(d1)*10 + int(d0), d1 <= 9 && d0 <= 9
}

// parseUint parses decimal digits up to limit.
func parseUint(b []byte, limit uint64) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, n <= limit
}

// parseInt parses a decimal number that fits 63 bits and is not negative:
// no column of a log can honestly be below zero.
func parseInt(b []byte) (int64, bool) {
	if len(b) > 18 { // rare, and the only ones that can overflow
		n, ok := parseUint(b, math.MaxInt64)
		return int64(n), ok
	}
	if len(b) == 0 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}
