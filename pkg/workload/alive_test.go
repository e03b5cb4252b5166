package workload

import (
	"fmt"
	"math"
	"testing"

	"warp/pkg/generator"
)

// The number of objects that exist at the same time is found although uploads and deletions replace them.
func TestAlive(t *testing.T) {
	t.Parallel()
	const objects, requests = 2000, 60_000
	for _, test := range []struct{ exponent, uploads, deletions float64 }{
		{0, 0, 0}, {1, 0, 0}, {.99, .1, .1}, {.8, .3, .3}, {1.2, .2, .2}, {0, .1, .1}, {.99, .1, .05},
	} {
		r := generator.Rand(1, "test", 0)
		zipf := generator.NewZipf(test.exponent)
		alive, made := make([]int, objects), objects
		for i := range alive {
			alive[i] = i
		}
		c := NewCollector()
		for n := range requests {
			q := Request{Start: int64(n) * 1e6, Objects: 1, Bytes: 1, Size: 1}
			switch x := r.Float64(); {
			case x < test.uploads:
				q.Op, q.Object = Put, HashObject("", fmt.Sprint(made))
				alive = append(alive, made)
				made++
			case x < test.uploads+test.deletions:
				q.Op = Delete
				i, last := r.IntN(len(alive)), len(alive)-1
				q.Object = HashObject("", fmt.Sprint(alive[i]))
				alive[i], alive = alive[last], alive[:last]
			default:
				q.Op, q.Object = Get, HashObject("", fmt.Sprint(alive[zipf.Rank(r, len(alive))]))
			}
			c.Add(&q)
		}
		p := c.Profile()
		if got := float64(p.Alive()); math.Abs(got/objects-1) > .15 {
			t.Errorf("%+v: %v objects, want %d; first downloads: %d of %d", test, got, objects, p.Reuse.FirstRequests, p.Reuse.Requests)
		}
	}
	if n := (&Profile{}).Alive(); n != 0 {
		t.Errorf("without downloads there are %d objects", n)
	}
}
