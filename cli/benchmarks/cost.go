package benchmarks

import (
	"fmt"
	"math"
	"strings"

	"warp/cli/session/plan"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
)

// usualPart is the size of parts unless --part.size is given.
const usualPart = 16 << 20

// perListing is the number of objects that a request lists, and deletes where the store can delete several at once.
const perListing = 1000

// A cost is how much a run sends at most, which providers charge for.
type cost struct {
	uploads  float64         // of the preparation
	sizes    generator.Sizes // of objects; nil if the benchmark has none of its own
	passes   int             // over these objects; 0 = no limit
	partSize int64           // above it objects are uploaded in parts; 0 = never
}

// requests returns the number of requests that upload n objects.
func (c *cost) requests(n float64) float64 {
	if c.sizes == nil || c.partSize <= 0 || c.sizes.Max() <= c.partSize {
		return n
	}
	return n * (math.Ceil(float64(c.sizes.Max())/float64(c.partSize)) + 2) // one begins and one ends each
}

// bytes returns the payload of n objects, or parts of them.
func (c *cost) bytes(n float64) string {
	if c.sizes == nil {
		return ""
	}
	return ", " + human.Bytes(n*float64(c.sizes.Max()))
}

// planCost adds how many requests and bytes the run makes at most.
func (f *Flags) planCost(d *plan.DryRun, b benchmark, o *bench.Options) {
	c := &f.cost
	if c.uploads > 0 {
		d.Say("the preparation makes %s PUT requests%s at most", count(c.requests(c.uploads)), c.bytes(c.uploads))
	}
	kinds := b.requests
	if b.made != nil {
		kinds = b.made()
	}
	n, limit := f.measured(o)
	switch {
	case n == 0:
		d.Say("the measurement makes as many %s requests as the store answers: no flag limits their number", strings.Join(kinds, ", "))
	default:
		retried := ""
		if o.Retries > 0 {
			retried = fmt.Sprintf(", %d times as many if all of them fail (--retries)", 1+o.Retries)
		}
		payload := ""
		if b.reads || b.writes {
			payload = c.bytes(n)
		}
		d.Say("the measurement makes %s %s requests%s at most (%s)%s", count(n), strings.Join(kinds, ", "), payload, limit, retried)
		if b.divided != nil && len(kinds) > 1 {
			var parts []string
			for i, share := range b.divided() {
				parts = append(parts, fmt.Sprintf("%s %s", count(n*share), kinds[i]))
			}
			d.Say("that is about %s", strings.Join(parts, ", "))
		}
	}
	if o.Duration > 0 && !o.ReadOnly {
		d.Say("the marker of the run is renewed by about %s", human.Count(int(o.Duration/(f.lease/3))+1, "PUT request", "PUT requests"))
	}
	if written := c.uploads + f.written(b, n); written > 0 && !o.KeepData && !o.NoClear && !o.ReadOnly {
		d.Say("the clean-up makes about %s listings of %d objects each, and as many deletions, or one for each object where the store cannot delete several at once",
			count(math.Ceil(written/perListing)), perListing)
	}
}

// measured returns the maximum number of requests of the measured part, and which flag limits them; 0 = nothing does.
func (f *Flags) measured(o *bench.Options) (n float64, limit string) {
	less := func(x float64, flag string) {
		if x > 0 && (n == 0 || x < n) {
			n, limit = x, flag
		}
	}
	if o.Rate > 0 && o.Duration > 0 {
		less(math.Ceil(o.Rate*o.Duration.Seconds()), "--rps-limit × --duration")
	}
	due := 0.0
	for _, s := range o.Stages {
		due += (s.From + s.To) / 2 * s.Length.Seconds()
	}
	less(math.Ceil(due), "--stages")
	less(float64(o.MaxObjects), "--max-objects")
	if f.cost.sizes != nil && o.TotalSize > 0 {
		less(math.Ceil(float64(o.TotalSize)/float64(max(1, f.cost.sizes.Min()))), "--total-size")
	}
	if f.Ends.Passes {
		less(f.cost.uploads*float64(f.cost.passes), "--epochs")
	}
	return n, limit
}

// written returns the number of objects that the measured part writes at most.
func (f *Flags) written(b benchmark, n float64) float64 {
	if !b.writes {
		return 0
	}
	return n
}

func count(n float64) string { return human.Grouped(uint64(math.Min(n, 1e18))) }
