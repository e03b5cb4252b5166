package aggregate

import (
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

// classBorders are the lower bounds of the size classes.
var classBorders = [...]uint64{0, 1, 10 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30}

// classNames are the lower bounds as text.
var classNames = [...]string{"0 B", "1 B", "10KiB", "1MiB", "10MiB", "100MiB", "1GiB", "10GiB"}

func classOf(bytes uint64) int {
	i := len(classBorders) - 1
	for classBorders[i] > bytes {
		i--
	}
	return i
}

// A sizeClass counts the requests of similar size inside the window.
type sizeClass struct {
	Bytes         exact.Uint128
	Latency, TTFB stats.Histogram
	Speed         stats.Histogram // bytes/s of each request with a duration above 0
}

func (c *sizeClass) merge(o *sizeClass) {
	c.Bytes.Add(o.Bytes.Hi, o.Bytes.Lo)
	c.Latency.Merge(&o.Latency)
	c.TTFB.Merge(&o.TTFB)
	c.Speed.Merge(&o.Speed)
}

// An access is the first and last access to one object.
type access struct{ First, Last visit }

type visit struct {
	Start         int64
	Latency, TTFB time.Duration
	HasTTFB       bool
}

// before orders by time. The other fields break ties, so that the order of rows
// does not matter.
func (v visit) before(o visit) bool {
	switch {
	case v.Start != o.Start:
		return v.Start < o.Start
	case v.Latency != o.Latency:
		return v.Latency < o.Latency
	case v.TTFB != o.TTFB:
		return v.TTFB < o.TTFB
	}
	return !v.HasTTFB && o.HasTTFB
}

// visit records a successful request for an object, inside the window or not.
func (t *totals) visit(r *oplog.Record) {
	first, seen := r.TTFB()
	v := visit{r.Start, r.Duration, first, seen}
	t.access(r.Key, access{v, v})
}

// maxObjects limits how many objects of an operation are remembered. If there
// are more, a sample is kept.
const maxObjects = 1 << 18

func (t *totals) access(key string, a access) {
	old, ok := t.Objects[key]
	if !ok {
		t.remember(key, a)
		return
	}
	if a.First.before(old.First) {
		old.First = a.First
	}
	if old.Last.before(a.Last) {
		old.Last = a.Last
	}
	t.Objects[key] = old
}

// remember keeps the objects with the lowest hashes. This sample does not
// depend on the order of requests, and all accesses to a sampled object are
// counted.
func (t *totals) remember(key string, a access) {
	if t.Sampled && hashOf(key) > t.HashLimit {
		return
	}
	if t.Objects == nil {
		t.Objects = map[string]access{}
	}
	t.Objects[strings.Clone(key)] = a
	if len(t.Objects) >= 2*maxObjects {
		t.sample()
	}
}

// sample reduces the objects to as many as a report needs.
func (t *totals) sample() {
	if len(t.Objects) <= maxObjects {
		return
	}
	hashes := make([]uint64, 0, len(t.Objects))
	for key := range t.Objects {
		hashes = append(hashes, hashOf(key))
	}
	slices.Sort(hashes)
	t.Sampled, t.HashLimit = true, hashes[maxObjects-1]
	maps.DeleteFunc(t.Objects, func(key string, _ access) bool { return hashOf(key) > t.HashLimit })
}

func hashOf(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return h.Sum64()
}

// add counts the figures that only a verbose report shows.
func (c *sizeClass) add(r *oplog.Record, bytes uint64) {
	c.Bytes.Add(0, bytes)
	c.Latency.Add(r.Duration)
	if first, seen := r.TTFB(); seen {
		c.TTFB.Add(first)
	}
	if r.Duration > 0 {
		c.Speed.Add(time.Duration(perSecond(bytes, r.Duration)))
	}
}

// perSecond returns bytes/d in bytes/s, capped at the maximum of a histogram.
func perSecond(bytes uint64, d time.Duration) uint64 {
	hi, lo := bits.Mul64(bytes, 1e9)
	if hi >= uint64(d) {
		return stats.MaxValue
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	return min(q, stats.MaxValue)
}
