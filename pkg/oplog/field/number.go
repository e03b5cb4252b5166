package field

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// ParseUint parses decimal digits up to limit.
func ParseUint(b []byte, limit uint64) (uint64, bool) {
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

// ParseInt parses a decimal number that fits 63 bits and is not negative, as no
// column of a log is.
func ParseInt(b []byte) (int64, bool) {
	if len(b) > 18 { // rare, and the only ones that can overflow
		n, ok := ParseUint(b, math.MaxInt64)
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

// NextNumber reads a number of up to 18 digits. Up to eight cost no loop.
func NextNumber(b []byte, at int, sep byte) (v uint64, next int) {
	if at > len(b)-Room {
		return 0, NoMatch
	}
	b = b[at : at+Room]
	if b[1] == sep && b[0]-'0' <= 9 {
		return uint64(b[0] - '0'), at + 2
	}
	v, n := shortNumber(b)
	if n > 0 && b[n] == sep {
		return v, at + n + 1
	}
	return longNumber(b, at, sep)
}

// NextOptional is NextNumber for a column that may be empty.
func NextOptional(b []byte, at int, sep byte) (v uint64, next int) {
	if at < len(b) && b[at] == sep {
		return 0, at + 1
	}
	return NextNumber(b, at, sep)
}

// longNumber reads a number of up to 18 digits, which cannot overflow.
func longNumber(b []byte, at int, sep byte) (v uint64, next int) {
	for i, c := range b[:19] {
		if c == sep && i > 0 {
			return v, at + i + 1
		}
		if c-'0' > 9 {
			break
		}
		v = v*10 + uint64(c-'0')
	}
	return 0, NoMatch
}

// shortNumber parses up to eight digits at the beginning of b and returns how
// many there are. It reads all of them at once, because a processor cannot
// predict their number.
func shortNumber(b []byte) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030 // digits are 0 to 9 now
	other := (x + 0x7676767676767676 | x) & 0x8080808080808080
	n = bits.TrailingZeros64(other) >> 3
	return joinDigits(x << (64 - 8*n)), n
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

// AppendNumber is strconv.AppendUint, faster for numbers of up to eight digits.
func AppendNumber(b []byte, n uint64) []byte {
	if n < 10 {
		return append(b, byte('0'+n))
	}
	if n >= 1e8 {
		return strconv.AppendUint(b, n, 10)
	}
	x := eightBytes(uint32(n))
	zeros := bits.TrailingZeros64(x^0x3030303030303030) >> 3
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, x>>(8*zeros&63))
	return b[:at+8-zeros]
}

// eightBytes returns the eight digits of a number below 10^8, the first one in
// the lowest byte. It splits halves into quarters and these into digits, all at once.
func eightBytes(n uint32) uint64 {
	x := uint64(n/10_000) | uint64(n%10_000)<<32
	q := x * 10_486 >> 20 & 0x0000007f0000007f // a hundredth of each
	x = q | (x-100*q)<<16
	q = x * 103 >> 10 & 0x000f000f000f000f // a tenth of each
	return q | (x-10*q)<<8 | 0x3030303030303030
}
