package oplog

import (
	"bytes"
	"strconv"
	"time"
)

// PhaseNames are the phases of an HTTP request, in their order. The first three
// are those of a new connection.
var PhaseNames = [...]string{"dns", "connect", "tls", "send", "wait", "receive"}

// ConnectionPhases is how many of them are those of a new connection.
const ConnectionPhases = 3

// Phases are the times that the requests of a row took in each phase; 0 = there
// was no such phase, or nobody noted it.
type Phases [len(PhaseNames)]time.Duration

// appendPhases writes them in ns, with commas in between. Most rows have none.
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

// parsePhases reads what appendPhases has written.
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
			n, ok := parseInt(text)
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

// fastPhases reads the column of phases, which mostly is empty.
func fastPhases(b []byte, at int) (p *Phases, next int) {
	if at < len(b) && b[at] == '\t' {
		return nil, at + 1
	}
	next = fastText(b, at)
	if next == noMatch {
		return nil, noMatch
	}
	p, ok := parsePhases(b[at : next-1])
	if !ok {
		return nil, noMatch
	}
	return p, next
}
