package aggregate

import (
	"math/bits"
	"strings"
	"time"

	"warp/pkg/oplog"
)

const openEnd = 1<<63 - 1 // end of a window whose end is not known yet

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
	bytes         uint128
	latency, ttfb Hist
	speed         Hist // bytes/s of each request, for those that took any time
}

func (c *sizeClass) merge(o *sizeClass) {
	c.bytes.add(o.bytes.hi, o.bytes.lo)
	c.latency.Merge(&o.latency)
	c.ttfb.Merge(&o.ttfb)
	c.speed.Merge(&o.speed)
}

func (o *opSummary) class(i int) *sizeClass {
	if o.classes[i] == nil {
		o.classes[i] = &sizeClass{}
	}
	return o.classes[i]
}

// access is the first and the last access to one object.
type access struct{ first, last visit }

type visit struct {
	start         int64
	latency, ttfb time.Duration
	hasTTFB       bool
}

// before orders by time; the rest only makes the choice independent of the
// order of rows.
func (v visit) before(o visit) bool {
	switch {
	case v.start != o.start:
		return v.start < o.start
	case v.latency != o.latency:
		return v.latency < o.latency
	case v.ttfb != o.ttfb:
		return v.ttfb < o.ttfb
	}
	return !v.hasTTFB && o.hasTTFB
}

func (o *opSummary) access(key string, a access) {
	old, ok := o.objects[key]
	if !ok {
		if o.objects == nil {
			o.objects = map[string]access{}
		}
		o.objects[strings.Clone(key)] = a
		return
	}
	if a.first.before(old.first) {
		old.first = a.first
	}
	if old.last.before(a.last) {
		old.last = a.last
	}
	o.objects[key] = old
}

// detail counts what only a verbose report shows, of a request inside.
func (o *opSummary) detail(r *oplog.Record, bytes uint64) {
	first, seen := r.TTFB()
	c := o.class(classOf(bytes))
	c.bytes.add(0, bytes)
	c.latency.Add(r.Duration)
	if seen {
		c.ttfb.Add(first)
	}
	if r.Duration > 0 {
		c.speed.Add(time.Duration(perSecond(bytes, r.Duration)))
	}
	if r.Key != "" {
		v := visit{r.Start, r.Duration, first, seen}
		o.access(r.Key, access{v, v})
	}
}

// perSecond is bytes/d in bytes/s, held at the largest value of a histogram.
func perSecond(bytes uint64, d time.Duration) uint64 {
	hi, lo := bits.Mul64(bytes, 1e9)
	if hi >= uint64(d) {
		return maxValue
	}
	q, _ := bits.Div64(hi, lo, uint64(d))
	return min(q, maxValue)
}
