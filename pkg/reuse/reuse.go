// Package reuse computes which share of downloads a cache could have served if it evicts the least recently used object (LRU).
//
// The reuse distance of a download is the size of all objects that were used since its object was used last, including this
// object. A cache of at least that size still has the object. Caches keep whole objects: a download of a part of an object uses
// all of it. Uploads put objects into the cache, deletions remove them.
//
// Up to [MaxObjects] objects, the figures are exact. With more, a sample of the objects is counted, which has the same
// distances on a smaller scale (SHARDS: Waldspurger et al., FAST '15).
package reuse

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// MaxObjects is the maximum number of objects that are counted at the same time.
const MaxObjects = 100_000

const (
	groups = 16 // random groups of objects, by which errors are estimated
	// maxSize limits the size of an object, so that sums do not overflow. No store has objects of 8 TiB.
	maxSize = 1 << 43
	// near is how much smaller and larger the caches are by which errors are estimated.
	near = .1
)

// A Counter counts the downloads of a log, which must be in order of their starts. Objects are identified by a hash of 64 bits.
type Counter struct {
	max    int     // objects
	caches []int64 // sizes for the result, ascending
	sizes  []int64 // these and similar ones, ascending
	stack  stack
	sample Sample // objects that are counted

	total   Amount
	objects float64          // that appeared
	beyond  [][groups]weight // by number of sizes that are less than the reuse distance: downloads
	first   [groups]weight   // those without a reuse distance
}

// An Amount counts requests and the bytes that they transferred.
type Amount struct{ Requests, Bytes uint64 }

// A weight is an estimate of an amount.
type weight struct{ requests, bytes float64 }

// New returns a counter for caches of the given sizes.
func New(caches ...int64) *Counter { return newCounter(MaxObjects, caches...) }

func newCounter(maxObjects int, caches ...int64) *Counter {
	c := &Counter{max: maxObjects, caches: sorted(caches), sample: All()}
	for _, size := range c.caches {
		lower, upper := around(size)
		c.sizes = append(c.sizes, lower, size, upper)
	}
	c.sizes = sorted(c.sizes)
	c.beyond = make([][groups]weight, len(c.sizes)+1)
	return c
}

func sorted(sizes []int64) []int64 { return slices.Compact(slices.Sorted(slices.Values(sizes))) }

// around returns sizes below and above a size.
func around(size int64) (lower, upper int64) {
	return int64(float64(size) * (1 - near)), int64(float64(size) * (1 + near))
}

// Upload counts an upload of an object.
func (c *Counter) Upload(object uint64, size int64) {
	if !c.sample.Has(object) {
		return
	}
	if !c.stack.remove(object) {
		c.objects += 1 / c.sample.Share
	}
	c.push(object, size)
}

// Delete counts the deletion of an object.
func (c *Counter) Delete(object uint64) {
	if c.sample.Has(object) {
		c.stack.remove(object)
	}
}

// Size returns the size of an object if it is known.
func (c *Counter) Size(object uint64) (size int64, ok bool) { return c.stack.size(object) }

// Download counts a download of that many bytes. The size is the size of the whole object; 0 = unknown. A download
// that is not counted uses the object, but is not in the result, because it was not in the time that matters.
func (c *Counter) Download(object uint64, size, bytes int64, counted bool) {
	if counted {
		c.total.Requests++
		c.total.Bytes += uint64(bytes)
	}
	if !c.sample.Has(object) {
		return
	}
	known, seen := c.stack.size(object)
	if size == 0 {
		size = max(known, bytes)
	}
	group := object % groups
	if seen {
		distance := float64(c.stack.distance(object)) / c.sample.Share
		c.stack.remove(object)
		if counted {
			c.add(&c.beyond[c.smaller(distance)][group], bytes)
		}
	} else {
		c.objects += 1 / c.sample.Share
		if counted {
			c.add(&c.first[group], bytes)
		}
	}
	c.push(object, size)
}

// Grow enlarges an object to a size, because its first download transferred that many bytes more than [Counter.Download]
// was given.
func (c *Counter) Grow(object uint64, size, bytes int64, counted bool) {
	if counted {
		c.total.Bytes += uint64(bytes)
	}
	if !c.sample.Has(object) || !c.stack.remove(object) {
		return
	}
	if counted {
		c.first[object%groups].bytes += float64(bytes) / c.sample.Share
	}
	c.push(object, size)
}

// smaller returns the number of sizes that are less than the distance.
func (c *Counter) smaller(distance float64) int {
	n, _ := slices.BinarySearchFunc(c.sizes, distance, func(size int64, d float64) int {
		if float64(size) < d {
			return -1
		}
		return 1
	})
	return n
}

func (c *Counter) add(w *weight, bytes int64) {
	w.requests += 1 / c.sample.Share
	w.bytes += float64(bytes) / c.sample.Share
}

func (c *Counter) push(object uint64, size int64) {
	c.stack.push(object, min(size, maxSize))
	if c.stack.objects() <= c.max {
		return
	}
	left := c.sample.Thin()
	c.stack.thin(&c.sample, left)
}

// A Result says what caches could have served.
type Result struct {
	Total   Amount  // downloads
	First   Amount  // downloads of objects that appeared for the first time
	Objects uint64  // that appeared
	Sampled float64 // share of the objects that were counted; 1 = all, so that the figures are exact
	Caches  []Cache // in ascending order of size
}

// A Cache is what a cache of a size could have served: shares of the downloads and of their bytes. Errors are half of the 95 %
// interval, 0 if the shares are exact.
type Cache struct {
	Size            int64
	Requests, Bytes Share
}

// A Share is from 0 to 1.
type Share struct{ Share, Error float64 }

// Result returns the result so far.
func (c *Counter) Result() Result {
	first := sum(&c.first)
	r := Result{Total: c.total, Objects: uint64(math.Round(c.objects)), Sampled: c.sample.Share, First: Amount{
		min(uint64(math.Round(first.requests)), c.total.Requests), min(uint64(math.Round(first.bytes)), c.total.Bytes)}}
	for _, size := range c.caches {
		r.Caches = append(r.Caches, c.cache(size))
	}
	return r
}

// missed returns the downloads that a cache of one of the sizes could not have served, by group.
func (c *Counter) missed(size int64) (all [groups]weight) {
	at, _ := slices.BinarySearch(c.sizes, size)
	all = c.first
	for i := at + 1; i < len(c.beyond); i++ {
		for group, w := range c.beyond[i] {
			all[group].requests += w.requests
			all[group].bytes += w.bytes
		}
	}
	return all
}

// cache estimates what a cache has missed, and takes the rest as served. The popular objects, by which samples differ from
// each other, are hardly ever missed. So this is more exact than an estimate of what was served.
func (c *Counter) cache(size int64) Cache {
	missed := c.missed(size)
	all, total := sum(&missed), weight{float64(c.total.Requests), float64(c.total.Bytes)}
	cache := Cache{size, Share{Share: served(all.requests, total.requests)}, Share{Share: served(all.bytes, total.bytes)}}
	if c.sample.Share == 1 {
		return cache
	}
	var requests, bytes stats.StreamStats
	for _, w := range missed {
		requests.Add(w.requests)
		bytes.Add(w.bytes)
	}
	// Distances are uncertain, too, because the sample may have larger or smaller objects than the others.
	lower, upper := around(size)
	less, more := c.missed(lower), c.missed(upper)
	few, many := sum(&more), sum(&less)
	uncertain := c.stack.uncertainty(int64(float64(size)*c.sample.Share)) / (2 * near)
	cache.Requests.Error = combine(requests.StdDev(), uncertain*(many.requests-few.requests), total.requests)
	cache.Bytes.Error = combine(bytes.StdDev(), uncertain*(many.bytes-few.bytes), total.bytes)
	return cache
}

func served(missed, total float64) float64 {
	if total == 0 {
		return 0
	}
	return min(max(1-missed/total, 0), 1)
}

// combine returns half of the 95 % interval of a share. The sum of independent groups has groups times the variance of one of
// them. Student's t with 15 degrees of freedom has its 97.5 % quantile at 2.13.
func combine(ofGroups, ofDistances, total float64) float64 {
	if total == 0 {
		return 0
	}
	return min(2.13*math.Hypot(math.Sqrt(groups)*ofGroups, ofDistances)/total, 1)
}

func sum(all *[groups]weight) (s weight) {
	for _, w := range all {
		s.requests += w.requests
		s.bytes += w.bytes
	}
	return s
}
