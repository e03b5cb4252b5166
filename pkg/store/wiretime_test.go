package store

import (
	"testing"
	"time"
)

// Whoever reads an answer late can make the store wait. Then nobody can tell how long the store took.
func TestLateReader(t *testing.T) {
	t.Parallel()
	const us = int64(time.Microsecond)
	for name, test := range map[string]struct {
		parts [][2]int64 // when each part of an answer that took 10 ms arrived, and when it was read, in µs
		known bool
		piled bool // the last part is so large that its begin waited for the client
	}{
		"the last part piled up":           {[][2]int64{{2000, 2060}, {10000, 300000}}, false, true},
		"it arrived at once":               {[][2]int64{{9850, 9860}, {10000, 10200}}, true, true},
		"one large part":                   {[][2]int64{{10000, 10060}}, false, true},
		"one part":                         {[][2]int64{{10000, 0}}, true, false},
		"one part, read late":              {[][2]int64{{10000, 300000}}, true, false},
		"read at once":                     {[][2]int64{{2000, 2060}, {6000, 6060}, {10000, 10060}}, true, false},
		"the store pauses":                 {[][2]int64{{2000, 2060}, {9000, 9060}, {10000, 10060}}, true, false},
		"late, nothing came meanwhile":     {[][2]int64{{2000, 300000}, {10000, 300010}}, false, false},
		"late, and the rest comes later":   {[][2]int64{{2000, 9900}, {10000, 10060}}, false, false},
		"late, for 3 % of the time":        {[][2]int64{{2000, 2300}, {10000, 10060}}, true, false},
		"late, while more arrived":         {[][2]int64{{2000, 2500}, {2100, 2400}, {10000, 10060}}, true, false},
		"small parts make no store wait":   {[][2]int64{{2000, 0}, {10000, 10060}}, true, false},
		"late with several parts in a row": {[][2]int64{{2000, 5000}, {3000, 5010}, {5100, 5200}, {10000, 10060}}, false, false},
	} {
		start := time.Now().Add(-time.Second)
		tr := NewTrace(start)
		tr.Requested()
		tr.wire.sent = 1
		for i, p := range test.parts {
			read := int64(0)
			if p[1] != 0 {
				read = start.UnixNano() + p[1]*us
			}
			tr.Arrived(start.UnixNano()+p[0]*us, read, test.piled && i == len(test.parts)-1)
		}
		wire, known := tr.WireTime(time.Now())
		if known != test.known || known && (wire < 9990*time.Microsecond || wire > 10010*time.Microsecond) {
			t.Errorf("%s: %v, known: %v", name, wire, known)
		}
	}
}
