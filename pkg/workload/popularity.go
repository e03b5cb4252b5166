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
	counts map[uint64]keyCount
	sample reuse.Sample // keys that are counted
	total  uint64
}

// A keyCount is the number of requests for a key.
type keyCount struct {
	requests      uint64
	made, deleted bool // during the log
}

func newPopularityCounter(maxCounted int) *popularityCounter {
	return &popularityCounter{max: maxCounted, counts: make(map[uint64]keyCount), sample: reuse.All()}
}

// read counts a request that reads an object.
func (c *popularityCounter) read(key uint64) {
	c.total++
	n := c.counts[key]
	n.requests++
	c.set(key, n)
}

// write notes an upload. An object that was not seen before counts as new.
func (c *popularityCounter) write(key uint64) {
	if n, ok := c.counts[key]; !ok {
		n.made = true
		c.set(key, n)
	}
}

func (c *popularityCounter) remove(key uint64) {
	if n, ok := c.counts[key]; ok {
		n.deleted = true
		c.set(key, n)
	}
}

func (c *popularityCounter) set(key uint64, n keyCount) {
	if !c.sample.Has(key) {
		return
	}
	c.counts[key] = n
	if len(c.counts) <= c.max {
		return
	}
	c.sample.Thin()
	maps.DeleteFunc(c.counts, func(key uint64, _ keyCount) bool { return !c.sample.Has(key) })
}

// popularity returns the figures; nil if nothing was read.
func (c *popularityCounter) popularity() *Popularity {
	maps.DeleteFunc(c.counts, func(_ uint64, n keyCount) bool { return n.requests == 0 })
	if len(c.counts) == 0 {
		return nil
	}
	p := &Popularity{Requests: c.total, Sampled: c.sample.Share, Keys: uint64(math.Round(float64(len(c.counts)) / c.sample.Share))}
	c.hottest(p)
	counts, requests := c.lasting()
	if f, ok := fitZipf(counts, requests, c.sample.Share); ok {
		p.Exponent, p.ExponentError, p.Objects = &f.exponent, f.err, f.objects
	}
	return p
}

// lasting returns the numbers of requests for the objects that existed during the whole log, and their sum: a new object is read
// less than it is popular. It returns those for all objects if the others are too many to be left out.
func (c *popularityCounter) lasting() (counts []uint64, requests uint64) {
	var all []uint64
	var deleted, lasting uint64
	for _, n := range c.counts {
		all = append(all, n.requests)
		switch {
		case n.made:
		case n.deleted:
			deleted++
		default:
			counts = append(counts, n.requests)
			lasting += n.requests
		}
	}
	requests = uint64(math.Round(float64(lasting) / c.sample.Share))
	if len(counts) < minFitKeys || 2*requests < c.total || 10*deleted > uint64(len(counts)) {
		return all, c.total
	}
	return counts, min(requests, c.total)
}

// hottest finds the share of the most popular keys. It is what the others did not get: these differ less from each other, so
// that a sample of them is more exact.
func (c *popularityCounter) hottest(p *Popularity) {
	type key struct{ hash, n uint64 }
	all := make([]key, 0, len(c.counts))
	for hash, n := range c.counts {
		all = append(all, key{hash, n.requests})
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
