package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"warp/internal/human"
)

// A Request is a request in a log, or a step of several requests that have lines of their own.
type Request struct {
	Op     Op
	Start  int64  // unix ns
	Object uint64 // hash of bucket and key, see [HashObject]; 0 = none
	Size   int64  // of the whole object; 0 = unknown
	Bytes  int64  // payload
	Status int    // of a failed request; 0 = unknown
	// Objects is the number of objects that the request is about.
	Objects int
	Failed  bool
	Unsized bool // the log does not say Bytes
	Range   bool // a download of a part of the object
	Part    bool // of a download in ranges that has a line of its own
	Step    bool // not a request by itself: its requests have lines of their own
	Before  bool // of the preparation: only fills caches
}

// A Collector makes a profile of requests. It takes about 60 MiB at most.
type Collector struct {
	order      order
	ops        map[Op]*opCounter
	ranges     rangeCounter
	popularity *popularityCounter
	rates      rateCounter
	dispersion [3]dispersionCounter
	cache      cache

	requests, failed uint64
	last             int64 // start of the last request
	lines            Lines
	formats, notes   map[string]bool
	versions         bool // objects have several, which requests do not name
	resolution       float64
}

// An opCounter counts the requests of an operation.
type opCounter struct {
	requests, objects, failed uint64
	statuses                  map[int]uint64
	sizes                     sizeCounter
}

// A rangeCounter counts downloads of parts of objects.
type rangeCounter struct {
	requests       uint64
	sizes, objects sizeCounter
}

// NewCollector returns a collector.
func NewCollector() *Collector {
	return &Collector{
		order: order{max: pending}, ops: make(map[Op]*opCounter), ranges: rangeCounter{sizes: make(sizeCounter), objects: make(sizeCounter)},
		popularity: newPopularityCounter(maxKeys), cache: newCache(cacheSizes()...),
		dispersion: [3]dispersionCounter{{interval: 1e9}, {interval: 10e9}, {interval: 60e9}}, formats: make(map[string]bool), notes: make(map[string]bool),
	}
}

// cacheSizes returns the sizes of the caches in a profile: 1 MiB to 1 PiB.
func cacheSizes() (all []int64) {
	for size := int64(1 << 20); size <= 1<<50; size *= 2 {
		all = append(all, size)
	}
	return all
}

// AddFormat adds the format of a log, and the resolution of its times in seconds.
func (c *Collector) AddFormat(name string, resolution float64) {
	c.formats[name] = true
	c.resolution = max(c.resolution, resolution)
}

// AddNote adds a note to the profile, which must not contain names from a log.
func (c *Collector) AddNote(text string) { c.notes[text] = true }

// AddVersions says that objects have several versions, and that requests do not name them.
func (c *Collector) AddVersions() { c.versions = true }

// AddLines adds the lines of a log.
func (c *Collector) AddLines(l Lines) {
	c.lines.Read += l.Read
	c.lines.Unreadable += l.Unreadable
	c.lines.LeftOut += l.LeftOut
}

// Add adds a request.
func (c *Collector) Add(r *Request) {
	r.Start = min(max(r.Start, 0), 1<<62) // so that differences do not overflow
	c.order.add(r, c.count)
}

// count counts a request. Requests are in the order of their starts.
func (c *Collector) count(r *Request) {
	if size, ok := c.cache.reuse.Size(r.Object); r.Unsized {
		if ok && !r.Range { // a whole object, which the log has seen before
			r.Bytes, r.Size, r.Unsized = size, size, false
		}
	} else if ok && r.Op == Get && !r.Failed && r.Bytes < size && r.Size == 0 {
		r.Range = true
	}
	if !r.Before {
		c.arrive(r)
		c.countOp(r)
		c.countObject(r)
	}
	c.cache.use(r)
}

func (c *Collector) countObject(r *Request) {
	if r.Failed || r.Part || r.Object == 0 {
		return
	}
	switch r.Op {
	case Get, Stat:
		c.popularity.read(r.Object)
	case Put, Upload, Copy:
		c.popularity.create(r.Object)
	case Delete:
		c.popularity.remove(r.Object)
	}
}

func (c *Collector) arrive(r *Request) {
	if r.Step {
		return
	}
	c.last = r.Start
	c.rates.add(r.Start)
	for i := range c.dispersion {
		c.dispersion[i].add(r.Start)
	}
}

func (c *Collector) countOp(r *Request) {
	o := c.ops[r.Op]
	if o == nil {
		o = &opCounter{statuses: make(map[int]uint64), sizes: make(sizeCounter)}
		c.ops[r.Op] = o
	}
	if !r.Step || r.Op == Delete { // one object of a request for several
		o.objects += uint64(max(r.Objects, 0))
	}
	if r.Step {
		if size := c.cache.parts[r.Object]; r.Op == Upload && size > 0 {
			o.sizes.add(size)
		}
		return
	}
	o.requests++
	c.requests++
	switch {
	case r.Failed:
		o.failed++
		c.failed++
		o.statuses[min(max(r.Status, 0), 999)]++
	case r.Range && r.Op == Get:
		c.ranges.requests++
		if !r.Unsized {
			c.ranges.sizes.add(r.Bytes)
		}
		size := r.Size
		if size == 0 {
			size, _ = c.cache.reuse.Size(r.Object)
		}
		if size > 0 {
			c.ranges.objects.add(size)
		}
	case r.Unsized:
	case r.Op == Get, r.Op == Put, r.Op == PutPart, r.Op == Append:
		o.sizes.add(r.Bytes)
	case r.Op == Upload, r.Op == Copy, r.Op == CopyPart:
		if size := max(r.Bytes, r.Size, c.cache.parts[r.Object]); size > 0 { // logs of stores may not say
			o.sizes.add(size)
		}
	}
}

// Profile ends the log and returns its profile. The collector cannot be used after that.
func (c *Collector) Profile() *Profile {
	c.order.end(c.count)
	p := &Profile{Version: Version, Kind: Kind, Formats: slices.Sorted(maps.Keys(c.formats)), Notes: append([]string{}, slices.Sorted(maps.Keys(c.notes))...), Lines: c.lines, Requests: c.requests, Errors: c.failed}
	if c.rates.interval > 0 {
		p.DurationS = float64(c.last-c.rates.begin) / 1e9
	}
	p.Operations = c.operations()
	if c.ranges.requests > 0 {
		get := c.ops[Get]
		p.Ranges = &Ranges{Requests: c.ranges.requests, Share: float64(c.ranges.requests) / float64(get.requests-get.failed),
			Sizes: c.ranges.sizes.sizes(), Objects: c.ranges.objects.sizes()}
	}
	p.Popularity = c.popularity.popularity()
	p.Arrivals = c.arrivals()
	p.Reuse = c.reused()
	c.note(p)
	return p
}

func (c *Collector) operations() []Operation {
	all := []Operation{}
	for op, o := range c.ops {
		if o.requests == 0 {
			continue
		}
		x := Operation{Op: op, Requests: o.requests, Share: float64(o.requests) / float64(c.requests), Objects: o.objects, Errors: o.failed, Sizes: o.sizes.sizes()}
		for _, status := range slices.Sorted(maps.Keys(o.statuses)) {
			x.Statuses = append(x.Statuses, Status{status, o.statuses[status]})
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Operation) int { return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Op, b.Op)) })
	return all
}

func (c *Collector) arrivals() Arrivals {
	a := Arrivals{ResolutionS: c.resolution, IntervalS: float64(c.rates.interval) / 1e9, Requests: append([]uint64{}, c.rates.counts...), Dispersion: []Dispersion{}}
	for i := range c.dispersion {
		if d, ok := c.dispersion[i].end(); ok {
			a.Dispersion = append(a.Dispersion, d)
		}
	}
	a.Gaps = gapsOf(a.Dispersion)
	return a
}

// reused returns what caches could have served: from the largest one that is useless to the smallest one that no larger one
// can beat. It returns nil if that is unknown.
func (c *Collector) reused() *Reuse {
	r := c.cache.reuse.Result()
	if r.Total.Requests == 0 || c.versions {
		return nil
	}
	u := &Reuse{Requests: r.Total.Requests, Bytes: r.Total.Bytes, Objects: r.Objects, Sampled: r.Sampled,
		FirstRequests: r.First.Requests, FirstBytes: r.First.Bytes, Caches: []Cache{}}
	best := r.Caches[len(r.Caches)-1]
	for i, x := range r.Caches {
		if i+1 < len(r.Caches) && r.Caches[i+1].Requests.Share == 0 {
			continue
		}
		u.Caches = append(u.Caches, Cache{x.Size, x.Requests.Share, x.Requests.Error, x.Bytes.Share, x.Bytes.Error})
		if x.Requests.Share == best.Requests.Share && x.Bytes.Share == best.Bytes.Share {
			break
		}
	}
	return u
}

// Disorder returns an error if so many requests came so late that the profile is wrong: more than 1 %. It is for the end, after
// [Collector.Profile].
func (c *Collector) Disorder() error {
	if 100*c.order.late <= c.requests {
		return nil
	}
	return fmt.Errorf("%s of %s requests are more than %s lines after later ones", human.Grouped(c.order.late), human.Grouped(c.requests), human.Grouped(pending/2))
}

// note says what is uncertain.
func (c *Collector) note(p *Profile) {
	add := func(format string, args ...any) { p.Notes = append(p.Notes, fmt.Sprintf(format, args...)) }
	if c.resolution >= 1 {
		add("The times of the log are whole seconds. Requests are spread at random within their second, so gaps below a second are not from the log.")
	}
	if n := c.lines.Unreadable; n > 0 {
		add("%s could not be read.", human.Plural(n, "line"))
	}
	if c.order.late > 0 {
		add("%s more than %s lines after requests that started later. Popularity and mix are exact, reuse and arrivals approximate.",
			human.Count(c.order.late, "request was", "requests were"), human.Grouped(pending/2))
	}
	if c.versions {
		add("The log does not say which versions of the objects were used, so nothing is known about their reuse.")
	}
	if p.Popularity != nil && p.Popularity.Sampled < 1 || p.Reuse != nil && p.Reuse.Sampled < 1 {
		add("There are more than %s objects, so popularity and reuse are estimates from a sample of them.", human.Grouped(maxKeys))
	}
}
