package workload

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"warp/pkg/reuse"
)

// maxKeys is the max number of keys whose requests are counted, so that one sentence describes both samples.
const maxKeys = reuse.MaxObjects

// groups is the number of random groups of keys by which errors are estimated.
const groups = 16

// A popularityCounter counts the requests for each key, or for the keys of a sample.
type popularityCounter struct {
	max    int
	counts map[uint64]uint64
	sample reuse.Sample // keys that are counted
	total  uint64
}

func newPopularityCounter(maxCounted int) *popularityCounter {
	return &popularityCounter{max: maxCounted, counts: make(map[uint64]uint64), sample: reuse.All()}
}

func (c *popularityCounter) add(key uint64) {
	c.total++
	if !c.sample.Has(key) {
		return
	}
	c.counts[key]++
	if len(c.counts) <= c.max {
		return
	}
	c.sample.Thin()
	maps.DeleteFunc(c.counts, func(key, _ uint64) bool { return !c.sample.Has(key) })
}

// popularity returns the figures; nil if there are no requests.
func (c *popularityCounter) popularity() *Popularity {
	if len(c.counts) == 0 {
		return nil
	}
	p := &Popularity{Requests: c.total, Sampled: c.sample.Share, Keys: uint64(math.Round(float64(len(c.counts)) / c.sample.Share))}
	c.hottest(p)
	if f, ok := fitZipf(slices.Collect(maps.Values(c.counts)), c.total, c.sample.Share); ok {
		p.Exponent, p.ExponentError, p.Objects = &f.exponent, f.err, f.objects
	}
	return p
}

// hottest finds the share of the most popular keys. It is what the others did not get: these differ less from each other, so
// that a sample of them is more exact.
func (c *popularityCounter) hottest(p *Popularity) {
	type key struct{ hash, n uint64 }
	all := make([]key, 0, len(c.counts))
	for hash, n := range c.counts {
		all = append(all, key{hash, n})
	}
	slices.SortFunc(all, func(a, b key) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.hash, b.hash)) })
	var cold [groups]float64
	sum := 0.0
	for _, k := range all[(len(all)+99)/100:] {
		cold[k.hash%groups] += float64(k.n) / c.sample.Share
		sum += float64(k.n) / c.sample.Share
	}
	total := float64(c.total)
	p.Hottest = min(max(1-sum/total, 0), 1)
	if c.sample.Share == 1 {
		return
	}
	var s stats.StreamStats
	for _, x := range cold {
		s.Add(x)
	}
	// Student's t with 15 degrees of freedom has its 97.5 % quantile at 2.13.
	p.HottestError = min(2.13*math.Sqrt(groups)*s.StdDev()/total, 1)
}
