package field

import (
	"encoding/binary"
	"math"
	"time"
)

// A TimeParser parses RFC 3339. The times of a row mostly share their second,
// and neighbouring rows their minute, so it remembers both.
type TimeParser struct {
	minute [17]byte // "2006-01-02T15:04:" that base belongs to
	base   int64    // unix seconds of that minute in UTC
	valid  bool
	words  [3]uint64 // "2006-01-02T15:04:05." that nanos belongs to; 0 where there is none
	nanos  int64
}

const timeLength = len("2006-01-02T15:04:05.999999999Z")

// Parse parses a time and returns it in unix nanoseconds.
func (p *TimeParser) Parse(b []byte) (int64, bool) {
	if len(b) == timeLength {
		if ns, ok := p.parseSameSecond(b); ok {
			return ns, true
		}
	}
	return p.parseAny(b)
}

// parseSameSecond parses a time in the second of the time before.
func (p *TimeParser) parseSameSecond(b []byte) (int64, bool) {
	_ = b[timeLength-1]
	if !p.sameSecond(b) || b[timeLength-1] != 'Z' {
		return 0, false
	}
	frac, ok := eightDigits(b[20:])
	d := b[28] - '0'
	return p.nanos + int64(frac)*10 + int64(d), ok && d <= 9
}

// sameSecond reports whether a time is, up to its point, in the second of the time before.
func (p *TimeParser) sameSecond(b []byte) bool {
	return binary.LittleEndian.Uint64(b) == p.words[0] && binary.LittleEndian.Uint64(b[8:]) == p.words[1] &&
		binary.LittleEndian.Uint32(b[16:]) == uint32(p.words[2]) && p.words[0] != 0
}

// parseSameSecondShort parses a time in that second without trailing zeros, as
// many implementations write it, and the tab after it. It returns the length of
// both, 0 for any other time.
func (p *TimeParser) parseSameSecondShort(b []byte) (ns int64, n int) {
	_ = b[Room-1]
	if !p.sameSecond(b) {
		return 0, 0
	}
	frac, digits := shortNumber(b[20:])
	if digits == 0 || b[20+digits] != 'Z' || b[21+digits] != '\t' {
		return 0, 0
	}
	return p.nanos + int64(frac)*tenTo[9-digits], 22 + digits
}

var tenTo = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// parseAny parses a time with any number of digits and any zone.
func (p *TimeParser) parseAny(b []byte) (int64, bool) {
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

// setMinute parses the date, hour and minute.
func (p *TimeParser) setMinute(b []byte) bool {
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

// NoTime is the value of an empty field. No valid time is that early.
const NoTime = math.MinInt64

// Next reads the time at a place, [NoTime] where the field is empty.
func (p *TimeParser) Next(b []byte, at int) (ns int64, next int) {
	if at > len(b)-Room {
		return 0, NoMatch
	}
	f := b[at : at+Room]
	if f[0] == '\t' {
		return NoTime, at + 1
	}
	if ns, ok := p.parseSameSecond(f); ok && f[timeLength] == '\t' {
		return ns, at + timeLength + 1
	}
	return p.nextOther(b, at)
}

// NextFour reads four times. Most have nine digits and are in UTC, in the second
// of the time before; the loop is parseSameSecond, inlined.
func (p *TimeParser) NextFour(b []byte, at int, times *[4]int64) (next int) {
	for i := range times {
		if at > len(b)-Room {
			return NoMatch
		}
		f := b[at : at+Room]
		if f[0] == '\t' {
			times[i] = NoTime
			at++
			continue
		}
		e := binary.LittleEndian
		frac, ok := eightDigits(f[20:])
		if last := f[28] - '0'; ok && last <= 9 && e.Uint16(f[29:]) == 'Z'|'\t'<<8 &&
			e.Uint64(f) == p.words[0] && e.Uint64(f[8:]) == p.words[1] && e.Uint32(f[16:]) == uint32(p.words[2]) && p.words[0] != 0 {
			times[i] = p.nanos + int64(frac)*10 + int64(last)
			at += timeLength + 1
			continue
		}
		times[i], at = p.nextOther(b, at)
	}
	return at
}

// nextOther reads a time in any form.
func (p *TimeParser) nextOther(b []byte, at int) (ns int64, next int) {
	if ns, n := p.parseSameSecondShort(b[at : at+Room]); n > 0 {
		return ns, at + n
	}
	next = NextText(b, at)
	if next == NoMatch {
		return 0, NoMatch
	}
	ns, ok := p.parseAny(b[at : next-1])
	if !ok {
		return 0, NoMatch
	}
	return ns, next
}

// A TimeFormatter appends times as RFC 3339 in UTC, always with nine digits, so
// that a column of times sorts as text. The four times of a row mostly share
// their second, so it remembers the text of the last second.
type TimeFormatter struct {
	second int64
	text   [timeLength]byte // of that second; 0 where there is none yet
}

// Append appends a time, given in unix nanoseconds.
func (f *TimeFormatter) Append(b []byte, ns int64) []byte {
	second := ns / 1e9
	frac := ns - second*1e9
	if frac < 0 {
		second--
		frac += 1e9
	}
	if second != f.second || f.text[0] == 0 {
		f.second = second
		time.Unix(second, 0).UTC().AppendFormat(f.text[:0], "2006-01-02T15:04:05.000000000Z")
	}
	b = append(b, f.text[:]...)
	digits := b[len(b)-len("999999999Z"):]
	hi := uint32(frac) / 1e8
	digits[0] = byte('0' + hi)
	binary.LittleEndian.PutUint64(digits[1:], eightBytes(uint32(frac)-hi*1e8))
	return b
}
