package answer

import (
	"bytes"
	"fmt"
	"time"
)

// parseDigits parses a decimal number up to 63 bits.
func parseDigits(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, n >= 0
}

// ParseChunkSize parses the line before a chunk: hexadecimal digits, and perhaps an extension,
// which is ignored.
func ParseChunkSize(line []byte) (n int64, ok bool) {
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		line = line[:semicolon]
	}
	return parseHex(trimBlanks(line))
}

// parseHex parses a hexadecimal number up to 60 bits.
func parseHex(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// ParseDate parses "Mon, 02 Jan 2006 15:04:05 GMT", the form that all stores use. It leaves other
// forms to the caller.
func ParseDate(b []byte) (t time.Time, ok bool) {
	if len(b) != len("Mon, 02 Jan 2006 15:04:05 GMT") || string(b[25:]) != " GMT" ||
		b[3] != ',' || b[4] != ' ' || b[7] != ' ' || b[11] != ' ' || b[16] != ' ' || b[19] != ':' || b[22] != ':' {
		return t, false
	}
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	var month time.Month
	for i := range time.Month(12) {
		if string(b[8:11]) == months[3*i:3*i+3] {
			month = i + 1
		}
	}
	day, ok1 := parseDigits(b[5:7])
	year, ok2 := parseDigits(b[12:16])
	hour, ok3 := parseDigits(b[17:19])
	minute, ok4 := parseDigits(b[20:22])
	second, ok5 := parseDigits(b[23:25])
	t = time.Date(int(year), month, int(day), int(hour), int(minute), int(second), 0, time.UTC)
	// A date that does not exist turns into another one.
	ok = ok1 && ok2 && ok3 && ok4 && ok5 && month > 0 && t.Day() == int(day) && t.Second() == int(second) && hour < 24 && minute < 60
	return t, ok
}

// parseListTime parses a time in a listing. Stores differ in precision, so it is truncated to
// milliseconds.
func parseListTime(b []byte) (time.Time, error) {
	t, ok := parseStamp(b)
	if !ok {
		var err error
		if t, err = time.Parse(time.RFC3339, string(b)); err != nil {
			return t, fmt.Errorf("its time is %.40q", b)
		}
	}
	return t.Truncate(time.Millisecond), nil
}

// parseStamp parses "2006-01-02T15:04:05.000Z", the form that all stores use. It leaves other
// forms to the caller.
func parseStamp(b []byte) (t time.Time, ok bool) {
	const form = "2006-01-02T15:04:05.000Z"
	if len(b) != len(form) || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[23] != 'Z' {
		return t, false
	}
	var n [7]int
	for i, at := range [7][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}} {
		v, digits := parseDigits(b[at[0]:at[1]])
		if !digits {
			return t, false
		}
		n[i] = int(v)
	}
	t = time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	// A date that does not exist turns into another one.
	return t, t.Month() == time.Month(n[1]) && t.Day() == n[2] && t.Hour() == n[3] && t.Minute() == n[4] && t.Second() == n[5]
}

// unescape decodes percent-encoding in place and returns the new length.
func unescape(b []byte) (n int, ok bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%':
			if i+2 >= len(b) {
				return 0, false
			}
			v, ok := parseHex(b[i+1 : i+3])
			if !ok {
				return 0, false
			}
			c, i = byte(v), i+2
		}
		b[n] = c
		n++
	}
	return n, true
}
