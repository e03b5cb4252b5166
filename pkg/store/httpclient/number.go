package httpclient

import (
	"bytes"
	"time"
)

// ParseDigits parses a decimal number up to 63 bits.
func ParseDigits(b []byte) (n int64, ok bool) {
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

// parseChunkSize parses the line before a chunk: hexadecimal digits, and perhaps an extension,
// which is ignored.
func parseChunkSize(line []byte) (n int64, ok bool) {
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		line = line[:semicolon]
	}
	return ParseHex(trimBlanks(line))
}

// ParseHex parses a hexadecimal number up to 60 bits.
func ParseHex(b []byte) (n int64, ok bool) {
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

// parseDate parses "Mon, 02 Jan 2006 15:04:05 GMT", the form that all stores use. It leaves other
// forms to the caller.
func parseDate(b []byte) (t time.Time, ok bool) {
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
	day, ok1 := ParseDigits(b[5:7])
	year, ok2 := ParseDigits(b[12:16])
	hour, ok3 := ParseDigits(b[17:19])
	minute, ok4 := ParseDigits(b[20:22])
	second, ok5 := ParseDigits(b[23:25])
	t = time.Date(int(year), month, int(day), int(hour), int(minute), int(second), 0, time.UTC)
	// A date that does not exist turns into another one.
	ok = ok1 && ok2 && ok3 && ok4 && ok5 && month > 0 && t.Day() == int(day) && t.Second() == int(second) && hour < 24 && minute < 60
	return t, ok
}
