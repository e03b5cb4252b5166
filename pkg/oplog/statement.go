package oplog

import "strconv"

// A Statement is the part of a script that a request belongs to. The zero
// value is that of requests which belong to none.
type Statement struct {
	Number uint16 // from 1
	WarmUp bool   // the statement was still warming up
}

// warmUpSuffix marks the requests of a warm-up in the log.
const warmUpSuffix = "-warmup"

// String is how the log writes it; "" of none.
func (s Statement) String() string { return string(s.append(nil)) }

func (s Statement) append(b []byte) []byte {
	if s.Number == 0 {
		return b
	}
	b = strconv.AppendUint(b, uint64(s.Number), 10)
	if s.WarmUp {
		b = append(b, warmUpSuffix...)
	}
	return b
}

// parseStatement reads what append has written.
func parseStatement(f []byte) (s Statement, ok bool) {
	if len(f) == 0 {
		return s, true
	}
	if n := len(f) - len(warmUpSuffix); n > 0 && string(f[n:]) == warmUpSuffix {
		f, s.WarmUp = f[:n], true
	}
	n, ok := parseUint(f, 1<<16-1)
	s.Number = uint16(n)
	return s, ok && n > 0
}

// A statements parser keeps the last one, since most rows have that of the row before.
type statements struct {
	text []byte
	last Statement
}

func (p *statements) parse(f []byte) (s Statement, ok bool) {
	if string(f) == string(p.text) {
		return p.last, true
	}
	s, ok = parseStatement(f)
	if ok {
		p.text, p.last = append(p.text[:0], f...), s
	}
	return s, ok
}
