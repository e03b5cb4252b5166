package oplog

import (
	"bytes"
	"strconv"
	"time"

	"warp/pkg/oplog/field"
)

// PhaseNames are the phases of an HTTP request, in their order. The first
// ConnectionPhases occur on new connections only.
var PhaseNames = [...]string{"dns", "connect", "tls", "send", "wait", "receive"}

// ConnectionPhases is the number of phases that only a new connection has.
const ConnectionPhases = 3

// Phases are the times that the requests of a row spent in each phase; 0 = there
// was no such phase, or it was not measured.
type Phases [len(PhaseNames)]time.Duration

// appendPhases appends them in ns, separated by commas. Most rows have none.
func appendPhases(b []byte, p *Phases) []byte {
	if p == nil {
		return b
	}
	for i, d := range p {
		if i > 0 {
			b = append(b, ',')
		}
		if d > 0 {
			b = strconv.AppendInt(b, int64(d), 10)
		}
	}
	return b
}

// parsePhases undoes appendPhases.
func parsePhases(f []byte) (*Phases, bool) {
	if len(f) == 0 {
		return nil, true
	}
	p := new(Phases)
	for i := range p {
		text, rest, more := bytes.Cut(f, []byte{','})
		if more != (i < len(p)-1) {
			return nil, false
		}
		if len(text) > 0 {
			n, ok := field.ParseInt(text)
			if !ok || n < 0 {
				return nil, false
			}
			p[i] = time.Duration(n)
		}
		f = rest
	}
	if *p == (Phases{}) {
		return nil, true
	}
	return p, true
}

// fastPhases reads the column of phases, mostly an empty one.
func fastPhases(b []byte, at int) (p *Phases, next int) {
	if at < len(b) && b[at] == '\t' {
		return nil, at + 1
	}
	next = field.NextText(b, at)
	if next == field.NoMatch {
		return nil, field.NoMatch
	}
	p, ok := parsePhases(b[at : next-1])
	if !ok {
		return nil, field.NoMatch
	}
	return p, next
}
