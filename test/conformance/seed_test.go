package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// TestSeed checks that a seed determines names, sizes, order and payload.
func TestSeed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.Embedded, teststore.MinIO} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, name)
			for _, job := range [][]string{
				{"get", "--objects=15", "--obj.size=16KiB", "--obj.randsize", "--range"},
				{"mixed", "--objects=15", "--obj.size=1000:1,5000:1"},
				{"put", "--obj.size=3KiB", "--obj.compressible=40", "--obj.dedup=20"},
				{"stat", "--objects=15"},
				{"delete", "--objects=15", "--batch=4", "--noprefix"},
			} {
				run := func(seed int) (log, wire []string) {
					var b *bed
					for _, d := range durations {
						b, log = newBed(t, s), nil
						o, path := b.run(append(job, "--concurrent=1", d, fmt.Sprintf("--seed=%d", seed))...)
						o.want(t, 0)
						for _, r := range readLog(t, path).rows {
							log = append(log, fmt.Sprintf("%s %s %d %d", r.Op, r.Key, r.Objects, r.Bytes))
						}
						if len(log) >= 20 || job[0] == "delete" {
							break
						}
					}
					// Names, ranges and checksums as the store received them.
					for _, s := range b.proxy.Requests(nil) {
						if op, key := measuredOp(&s); op != "" && op != "LIST" && op != "DELETE" {
							wire = append(wire, strings.Join([]string{op, key, s.Header.Get("Range"), s.Header.Get("X-Amz-Content-Sha256"),
								fmt.Sprint(payload(&s))}, " "))
						}
					}
					return log, wire
				}
				log1, wire1 := run(7)
				log2, wire2 := run(7)
				log3, wire3 := run(8)
				for _, x := range [][3][]string{{log1, log2, log3}, {wire1, wire2, wire3}} {
					n := min(len(x[0]), len(x[1]))
					if n < 5 {
						t.Fatalf("%v: only %d requests", job, n)
					}
					if !slices.Equal(x[0][:n], x[1][:n]) {
						i := 0
						for x[0][i] == x[1][i] {
							i++
						}
						t.Errorf("%v: the same seed gives %q and %q as request %d", job, x[0][i], x[1][i], i)
					}
					if x[0][0] == x[2][0] {
						t.Errorf("%v: another seed begins with the same request %q", job, x[0][0])
					}
				}
			}
		})
	}
}
