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

// classBorders are the sizes at which size classes begin.
var classBorders = [...]uint64{0, 1, 10 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30, 10 << 30}

// classNames say where a class begins.
var classNames = [...]string{"0 B", "1 B", "10KiB", "1MiB", "10MiB", "100MiB", "1GiB", "10GiB"}

func classOf(bytes uint64) int {
	i := len(classBorders) - 1
	for classBorders[i] > bytes {
		i--
	}
	return i
}

// sizeClass is about the requests of similar size that lie inside the window.
type sizeClass struct {
	Bytes         exact.Uint128
	Latency, TTFB stats.Histogram
	Speed         stats.Histogram // bytes/s of each request, for those that took any time
}

func (c *sizeClass) merge(o *sizeClass) {
	c.Bytes.Add(o.Bytes.Hi, o.Bytes.Lo)
	c.Latency.Merge(&o.Latency)
	c.TTFB.Merge(&o.TTFB)
	c.Speed.Merge(&o.Speed)
}

// access is the first and the last access to one object.
type access struct{ First, Last visit }

type visit struct {
	Start         int64
	Latency, TTFB time.Duration
	HasTTFB       bool
}

// before orders by time; the rest only makes the choice independent of the
// order of rows.
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

// visit notes a successful request for an object, in the window or not: its
// first access is the first one in the log.
func (o *opSummary) visit(r *oplog.Record) {
	first, seen := r.TTFB()
	v := visit{r.Start, r.Duration, first, seen}
	o.access(r.Key, access{v, v})
}

// maxObjects is how many objects of an operation are remembered; where there
// are more it is a sample of them.
const maxObjects = 1 << 18

func (o *opSummary) access(key string, a access) {
	old, ok := o.Objects[key]
	if !ok {
		o.remember(key, a)
		return
	}
	if a.First.before(old.First) {
		old.First = a.First
	}
	if old.Last.before(a.Last) {
		old.Last = a.Last
	}
	o.Objects[key] = old
}

// remember keeps the objects with the lowest hashes. Which these are does not
// depend on the order of the requests, and one of them was never left out.
func (o *opSummary) remember(key string, a access) {
	if o.Sampled && hashOf(key) > o.HashLimit {
		return
	}
	if o.Objects == nil {
		o.Objects = map[string]access{}
	}
	o.Objects[strings.Clone(key)] = a
	if len(o.Objects) >= 2*maxObjects {
		o.sample()
	}
}

// sample leaves only as many objects as a report is about.
func (o *opSummary) sample() {
	if len(o.Objects) <= maxObjects {
		return
	}
	hashes := make([]uint64, 0, len(o.Objects))
	for key := range o.Objects {
		hashes = append(hashes, hashOf(key))
	}
	slices.Sort(hashes)
	o.Sampled, o.HashLimit = true, hashes[maxObjects-1]
	maps.DeleteFunc(o.Objects, func(key string, _ access) bool { return hashOf(key) > o.HashLimit })
}

func hashOf(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return h.Sum64()
}

// add counts what only a verbose report shows.
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

// perSecond is bytes/d in bytes/s, held at the largest value of a histogram.
func perSecond(bytes uint64, d time.Duration) uint64 {
	hi, lo := bits.Mul64(bytes, 1e9)
	if hi >= uint64(d) {
		return stats.MaxValue
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	return min(q, stats.MaxValue)
}
