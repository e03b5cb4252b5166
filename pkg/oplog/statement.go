package oplog

import (
	"fmt"
	"strconv"

	"warp/pkg/oplog/field"
)

// A Statement is the part of a script that a request belongs to. The zero
// value is for requests outside of statements.
type Statement struct {
	Number uint16 // from 1
	WarmUp bool   // the statement was still warming up
	Stage  bool   // it is a stage of --stages, for Title only: rows of a log do not say so
}

// warmUpSuffix marks the requests of a warm-up in the log.
const warmUpSuffix = "-warmup"

// String returns the statement as the log has it, "" for the zero value.
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

// Title returns the name of the statement in reports, "" for the zero value.
func (s Statement) Title() string {
	switch {
	case s.Number == 0:
		return ""
	case s.Stage:
		return fmt.Sprintf("stage %d", s.Number)
	case s.WarmUp:
		return fmt.Sprintf("statement %d, warm-up", s.Number)
	}
	return fmt.Sprintf("statement %d", s.Number)
}

// parseStatement undoes append.
func parseStatement(f []byte) (s Statement, ok bool) {
	if len(f) == 0 {
		return s, true
	}
	if n := len(f) - len(warmUpSuffix); n > 0 && string(f[n:]) == warmUpSuffix {
		f, s.WarmUp = f[:n], true
	}
	n, ok := field.ParseUint(f, 1<<16-1)
	s.Number = uint16(n)
	return s, ok && n > 0
}

// A statementParser remembers the last statement, because neighbouring rows mostly have the same.
type statementParser struct {
	text []byte
	last Statement
}

func (p *statementParser) parse(f []byte) (s Statement, ok bool) {
	if string(f) == string(p.text) {
		return p.last, true
	}
	s, ok = parseStatement(f)
	if ok {
		p.text, p.last = append(p.text[:0], f...), s
	}
	return s, ok
}
