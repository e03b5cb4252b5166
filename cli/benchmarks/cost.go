package benchmarks

import (
	"math"
	"slices"
	"strings"

	"warp/cli/session/plan"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/replay"
)

// usualPart is the size of parts unless --part.size is given.
const usualPart = 16 << 20

// A cost is how much a run sends at most, which providers charge for.
type cost struct {
	uploads  float64         // of the preparation
	sizes    generator.Sizes // of objects; nil if the benchmark has none of its own
	archive  int64           // size of the one object of the preparation that has all others in it; 0 = there is none
	objects  float64         // of the pool at most; 0 = not known
	writes   float64         // objects that a request of the measurement writes on average
	moves    float64         // objects whose payload it moves
	passes   int             // over these objects; 0 = no limit
	batch    int             // objects that a request takes out of the pool; 0 = none
	partSize int64           // above it objects are uploaded in parts; 0 = never
	replay   *replay.Plan    // what a replay sends; nil in other benchmarks
}

// setReplay sets the cost of a replay.
func (c *cost) setReplay(p *replay.Plan) { c.replay, c.uploads = p, float64(p.Prepared) }

// prepare sets the number of requests of the preparation, and their payload if that is known.
func (c *cost) prepare(p *plan.Cost) {
	if c.archive > 0 {
		p.Uploads, p.UploadBytes = c.inParts(c.uploads, c.archive), c.uploads*float64(c.archive)
		return
	}
	p.Uploads, p.UploadBytes, p.MaxUpload = c.requests(c.uploads), c.bytes(c.uploads), c.largest(c.uploads)
}

// requests returns the number of requests that upload n objects.
func (c *cost) requests(n float64) float64 {
	if c.replay != nil && c.partSize > 0 {
		n = 0
		for _, o := range c.replay.Objects {
			switch {
			case o.Prepare && o.Size > c.partSize:
				n += math.Ceil(float64(o.Size)/float64(c.partSize)) + 2
			case o.Prepare:
				n++
			}
		}
		return n
	}
	if c.sizes == nil {
		return n
	}
	return expected(c.sizes, func(size int64) float64 { return c.inParts(n, size) })
}

// expected returns the mean of a quantity that depends on the size of an object.
func expected(sizes generator.Sizes, of func(size int64) float64) float64 {
	if sizes.Min() == sizes.Max() {
		return of(sizes.Max())
	}
	const n = 1<<14 - 2 // all sizes of the first strata
	sum, stream := 0.0, generator.Rand(0, "expected", 0)
	for range n {
		sum += of(sizes.Next(stream))
	}
	return sum / n
}

// randomSizes reports whether objects have different sizes.
func (c *cost) randomSizes() bool { return c.sizes != nil && c.sizes.Min() < c.sizes.Max() }

// randomParts reports whether chance decides in how many parts an object is uploaded.
func (c *cost) randomParts() bool {
	return c.randomSizes() && c.partSize > 0 && c.sizes.Max() > c.partSize && c.archive == 0
}

// inParts returns the number of requests that upload n objects of a size.
func (c *cost) inParts(n float64, size int64) float64 {
	if c.partSize <= 0 || size <= c.partSize {
		return n
	}
	return n * (math.Ceil(float64(size)/float64(c.partSize)) + 2) // one begins and one ends each
}

// sent returns the number of requests of n operations of a kind.
func (c *cost) sent(kind string, n float64) float64 {
	if kind == "PUT" && c.replay == nil {
		return c.requests(n)
	}
	return n
}

// bytes returns the payload of n objects, or parts of them; 0 if it is not known.
func (c *cost) bytes(n float64) float64 {
	switch {
	case c.replay != nil:
		return float64(c.replay.Bytes)
	case c.sizes == nil:
		return 0
	}
	return n * c.sizes.Mean()
}

// largest returns the payload of n of the largest objects; 0 if it is not known.
func (c *cost) largest(n float64) float64 {
	if c.sizes == nil {
		return 0
	}
	return n * float64(c.sizes.Max())
}

// set sets how many objects a request of the measurement writes on average, and the payload of how many it moves.
func (c *cost) set(writes, moves float64) { c.writes, c.moves = writes, moves }

// planned returns how much the run sends at most, or about that if it is random, and which flag limits it.
func (f *Flags) planned(b benchmark, o *bench.Options) (p plan.Cost, limit string) {
	c := &f.cost
	if c.uploads > 0 {
		c.prepare(&p)
	}
	kinds := b.requests
	if b.made != nil {
		kinds = b.made()
	}
	n, limit := f.measured(o)
	p.Unlimited = n == 0
	var divided []float64
	if b.divided != nil && len(kinds) > 1 && n > 0 {
		if divided = b.divided(); divided == nil {
			p.Operations, n = n, 0
		}
	}
	if divided == nil {
		all := strings.Join(kinds, ", ")
		p.Requests = []plan.OfKind{{Kind: all, Max: c.sent(all, n)}}
	}
	for i, each := range divided {
		if each > 0 {
			p.Requests = append(p.Requests, plan.OfKind{Kind: kinds[i], Max: c.sent(kinds[i], n*each)})
		}
	}
	switch {
	case c.replay != nil:
		p.Bytes = float64(c.replay.Written)
	case b.reads || b.writes:
		p.Bytes = c.bytes(n * c.moves)
	}
	random := limit == "--total-size" && c.randomSizes() || limit == "--max-objects" && c.writes < 1
	if !random && p.Bytes > 0 && c.replay == nil {
		p.MaxBytes = c.largest(n * max(1, c.moves))
	}
	p.Expected = c.randomSizes() || c.moves < 1
	p.UploadsVary = c.randomParts()
	p.RequestsVary = random || b.writes && c.randomParts() || divided != nil && c.randomSizes()
	p.Attempts = 1 + o.Retries
	if o.Duration > 0 && !o.ReadOnly {
		p.Renewals = int(o.Duration/(f.lease/3)) + 1
	}
	if !o.KeepData && !o.NoClear && !o.ReadOnly {
		p.Remove(c.uploads + f.written(b, max(n, p.Operations)))
	}
	return p, limit
}

// planCost adds how many requests and bytes the run makes at most.
func (f *Flags) planCost(d *plan.DryRun, b benchmark, o *bench.Options) {
	p, limit := f.planned(b, o)
	d.Cost = &p
	if p.Uploads > 0 {
		d.Say("the preparation makes %s", p.SayUploads())
	}
	switch {
	case p.Unlimited:
		d.Say("the measurement makes as many %s requests as the store answers: no flag limits their number", p.Kinds())
	case p.Operations > 0:
		d.Say("the measurement makes %s%s", p.SayOperations(" ("+limit+")"), p.SayRetries())
	default:
		amount := p.SayMeasured(false)
		if f.cost.replay != nil && p.Bytes > 0 {
			amount = strings.Replace(amount, ", "+human.Bytes(p.Bytes), ", with uploads of "+human.Bytes(p.Bytes), 1)
		}
		d.Say("the measurement makes %s (%s)%s", amount, limit, p.SayRetries())
		if len(p.Requests) > 1 {
			d.Say("that is about %s", p.SayRequests())
		}
	}
	if p.Renewals > 0 {
		d.Say("the marker of the run is renewed by about %s", human.Count(p.Renewals, "PUT request", "PUT requests"))
	}
	if p.Listings > 0 {
		d.Say("the clean-up makes about %s", p.SayRemoval())
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
	due := 0.0 // for each client; the rates are of all together
	clients := max(o.Clients, f.Fleet.Size(), 1)
	for _, s := range append(slices.Clip(o.Stages), o.Rates...) {
		due += (s.From + s.To) / 2 * s.Length.Seconds() / float64(clients)
	}
	if len(o.Rates) > 0 {
		less(math.Ceil(due), "--like")
	}
	less(math.Ceil(due), "--stages")
	if f.cost.writes > 0 {
		less(math.Ceil(float64(o.MaxObjects)/f.cost.writes), "--max-objects")
	}
	if p := f.cost.replay; p != nil {
		less(float64(p.Count()), "the log")
	}
	if each := f.cost.bytes(f.cost.writes); each > 0 {
		less(math.Ceil(float64(o.TotalSize)/each), "--total-size")
	}
	if f.Ends.Passes {
		less(f.cost.objects*float64(f.cost.passes), "--epochs")
	}
	if f.cost.batch > 0 {
		less(math.Ceil(f.cost.objects/float64(f.cost.batch)), "the objects")
	}
	return n, limit
}

// written returns the number of objects that the measured part writes at most.
func (f *Flags) written(b benchmark, n float64) float64 {
	if p := f.cost.replay; p != nil {
		return float64(p.Counts[replay.Put] + p.Counts[replay.Upload])
	}
	if !b.writes {
		return 0
	}
	return n * f.cost.writes
}
