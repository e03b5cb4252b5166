package workload

import (
	"math"
	"sort"
)

// Alive estimates how many objects existed at the same time, which those that were read chose from. Uploads add objects, and each
// deletion makes room for another one, so it is fewer than were read.
//
// Objects from before the log tell how many there were: they are the only ones whose first use is a download. An object that has
// existed from the beginning is downloaded at its rate until a deletion hits it, and both come at random. If few objects get nearly
// all requests, any large number of objects fits, and the result is the smallest of them.
func (p *Profile) Alive() uint64 {
	q := p.Popularity
	if q == nil {
		return 0
	}
	objects := max(q.Objects, q.Keys)
	if p.Reuse == nil || p.Reuse.FirstRequests == 0 {
		return objects
	}
	var uploads, deletions, exponent float64
	for _, o := range p.Operations {
		switch o.Op {
		case Put:
			uploads = float64(o.Requests)
		case Delete:
			deletions = float64(o.Requests)
		}
	}
	if q.Exponent != nil {
		exponent = *q.Exponent
	}
	downloads, first := float64(p.Reuse.Requests), float64(p.Reuse.FirstRequests)
	expected := func(n int) float64 {
		return firstDownloads(float64(n), exponent, downloads, uploads-deletions, deletions)
	}
	limit := int(min(objects, math.MaxInt32))
	enough := min(first, expected(limit)-math.Sqrt(first)) // a standard error below the max
	n := sort.Search(limit, func(n int) bool { return expected(n) >= enough })
	return max(uint64(n), p.Reuse.FirstRequests)
}

// firstDownloads returns how many of n objects are downloaded at least once before they are deleted. The number of objects grows at an
// even rate.
func firstDownloads(n, exponent, downloads, growth, deletions float64) (sum float64) {
	mean := max(n+growth/2, n/2)
	groups, total := rankGroups(nil, exponent, mean)
	for _, g := range groups {
		ranks := min(g.ranks, n)
		rate := downloads * g.weight / total / g.ranks
		end := rate + deletions/mean
		sum += ranks * rate / end * -math.Expm1(-end)
		if n -= ranks; n <= 0 {
			break
		}
	}
	return sum
}
