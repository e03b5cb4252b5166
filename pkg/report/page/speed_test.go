package page

import (
	"testing"
	"time"

	"warp/internal/testlog"
)

// BenchmarkFragments measures an update of a live page.
func BenchmarkFragments(b *testing.B) {
	for name, l := range map[string]testlog.Load{
		"minute": {Ops: []string{"GET"}, Threads: 8, Length: time.Minute, Latency: 20 * time.Millisecond},
		"hour":   {Ops: []string{"GET", "PUT", "STAT", "DELETE"}, Threads: 8, Hosts: 16, Length: time.Hour, Latency: 300 * time.Millisecond},
	} {
		r := reportOf(b, l, nil)
		b.Run(name+"/page", func(b *testing.B) {
			for b.Loop() {
				Report(r, Options{})
			}
		})
		p := Report(r, Options{})
		b.Run(name+"/fragments", func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Fragments(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
