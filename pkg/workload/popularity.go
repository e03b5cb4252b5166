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
//
// A key that existed during only a part of the log was read less often than its popularity suggests. The exponent is therefore
// fitted to the beginning of the log, which ends when half of the keys that it began with are deleted, and only to keys that
// existed throughout. If nothing is deleted, the beginning is the whole log.
type popularityCounter struct {
	max    int
	counts map[uint64]keyCount
	sample reuse.Sample // keys that are counted
	total  uint64

	beginningOver bool
	old           int // keys that existed before the log and were read in its beginning
	deleted       int // old keys that were deleted
}

// A keyCount is the number of requests for a key, and what happened to it in the beginning.
type keyCount struct {
	requests, early  uint64
	created, deleted bool
}

// old reports whether the key existed before the log.
func (n keyCount) old() bool { return !n.created && n.early > 0 }

func newPopularityCounter(maxCounted int) *popularityCounter {
	return &popularityCounter{max: maxCounted, counts: make(map[uint64]keyCount), sample: reuse.All()}
}

// read counts a request that reads an object.
func (c *popularityCounter) read(key uint64) {
	c.total++
	if !c.sample.Has(key) {
		return
	}
	n := c.counts[key]
	n.requests++
	if !c.beginningOver {
		n.early++
		if n.early == 1 && n.old() {
			c.old++
		}
	}
	c.set(key, n)
}

// create notes an upload.
func (c *popularityCounter) create(key uint64) {
	if _, ok := c.counts[key]; !ok && !c.beginningOver && c.sample.Has(key) {
		c.set(key, keyCount{created: true})
	}
}

// remove notes a deletion.
func (c *popularityCounter) remove(key uint64) {
	n, ok := c.counts[key]
	if !ok || c.beginningOver || n.deleted || !n.old() {
		return
	}
	n.deleted = true
	c.counts[key] = n
	c.deleted++
	c.beginningOver = c.old >= 2*minFitKeys && 2*c.deleted >= c.old
}

func (c *popularityCounter) set(key uint64, n keyCount) {
	c.counts[key] = n
	if len(c.counts) <= c.max {
		return
	}
	left := c.sample.Thin()
	c.old, c.deleted = int(left*float64(c.old)), int(left*float64(c.deleted))
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
	if f, ok := c.fit(); ok {
		p.Exponent, p.ExponentError, p.Objects = &f.exponent, f.err, f.objects
	}
	return p
}

// fit fits a distribution to the keys that existed during the whole beginning, or to all keys if few requests were for these.
func (c *popularityCounter) fit() (zipfFit, bool) {
	var all, lasting []uint64
	var early, requests uint64
	for _, n := range c.counts {
		all = append(all, n.requests)
		early += n.early
		if n.old() && !n.deleted {
			lasting = append(lasting, n.early)
			requests += n.early
		}
	}
	if len(lasting) < minFitKeys || 8*requests < early {
		return fitZipf(all, c.total, c.sample.Share)
	}
	// Deletions do not depend on popularity, so the deleted keys would have had as many requests as the others.
	share := float64(len(lasting)) / float64(len(lasting)+c.deleted) * c.sample.Share
	return fitZipf(lasting, uint64(math.Round(float64(requests)/share)), share)
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
