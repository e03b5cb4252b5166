// Package counter counts requests: the figures that a run shows while it lasts and
// sends to receivers of metrics.
package counter

import (
	"encoding/binary"
	"math"
	"time"

	"warp/internal/exact"
	"warp/internal/wire"
	"warp/pkg/oplog"
)

// A Counter counts a set of requests, such as all of one operation at one host. Failed
// requests count only in Requests and Errors. Sums stop at the largest number, so the order
// of Add and Merge changes nothing. The zero value is ready for use.
type Counter struct {
	Requests, Errors uint64
	Bytes, Objects   uint64
	Time             Times // from start to end
	TTFB             Times // to the first byte; only downloads have one
	Wire, Client     Times // Time without the client's part, and that part, where they are known
}

// Times are a sum of durations and their extremes.
type Times struct {
	N             uint64
	Sum, Min, Max time.Duration
}

// Add counts a request.
func (c *Counter) Add(r *oplog.Record) {
	c.Requests++
	if r.Err != "" {
		c.Errors++
		return
	}
	c.Bytes = exact.AddUint(c.Bytes, uint64(max(r.Bytes, 0)))
	c.Objects = exact.AddUint(c.Objects, uint64(max(r.Objects, 0)))
	c.Time.add(r.Duration)
	if d, seen := r.TTFB(); seen {
		c.TTFB.add(d)
	}
	if r.ClientTime > 0 {
		c.Wire.add(r.Duration - r.ClientTime)
		c.Client.add(r.ClientTime)
	}
}

// Merge adds the requests of o.
func (c *Counter) Merge(o *Counter) {
	c.Requests = exact.AddUint(c.Requests, o.Requests)
	c.Errors = exact.AddUint(c.Errors, o.Errors)
	c.Bytes = exact.AddUint(c.Bytes, o.Bytes)
	c.Objects = exact.AddUint(c.Objects, o.Objects)
	c.Time.merge(&o.Time)
	c.TTFB.merge(&o.TTFB)
	c.Wire.merge(&o.Wire)
	c.Client.merge(&o.Client)
}

func (t *Times) add(d time.Duration) {
	d = max(d, 0)
	if t.N == 0 || d < t.Min {
		t.Min = d
	}
	t.Max = max(t.Max, d)
	t.N++
	t.Sum = time.Duration(exact.AddInt(int64(t.Sum), int64(d)))
}

// merge ignores an empty side, whose extremes are not times.
func (t *Times) merge(o *Times) {
	if o.N == 0 {
		return
	}
	if t.N == 0 || o.Min < t.Min {
		t.Min = o.Min
	}
	t.Max = max(t.Max, o.Max)
	t.N = exact.AddUint(t.N, o.N)
	t.Sum = time.Duration(exact.AddInt(int64(t.Sum), int64(o.Sum)))
}

// Mean returns the mean in ns, or 0 if there are no durations.
func (t *Times) Mean() float64 { return exact.Ratio(float64(t.Sum), float64(t.N)) }

// Append encodes the counter.
func (c *Counter) Append(b []byte) []byte {
	for _, n := range [...]uint64{c.Requests, c.Errors, c.Bytes, c.Objects} {
		b = binary.AppendUvarint(b, n)
	}
	for _, t := range [...]*Times{&c.Time, &c.TTFB, &c.Wire, &c.Client} {
		b = t.append(b)
	}
	return b
}

func (t *Times) append(b []byte) []byte {
	b = binary.AppendUvarint(b, t.N)
	if t.N == 0 {
		return b
	}
	for _, d := range [...]time.Duration{t.Sum, t.Min, t.Max} {
		b = binary.AppendUvarint(b, uint64(d))
	}
	return b
}

// Read decodes the form of Append. If it is invalid, r fails.
func (c *Counter) Read(r *wire.Reader) {
	for _, n := range [...]*uint64{&c.Requests, &c.Errors, &c.Bytes, &c.Objects} {
		*n = r.Uint()
	}
	for _, t := range [...]*Times{&c.Time, &c.TTFB, &c.Wire, &c.Client} {
		t.read(r)
	}
}

func (t *Times) read(r *wire.Reader) {
	*t = Times{N: r.Uint()}
	if t.N == 0 {
		return
	}
	for _, d := range [...]*time.Duration{&t.Sum, &t.Min, &t.Max} {
		n := r.Uint()
		if n > math.MaxInt64 {
			r.Fail()
			return
		}
		*d = time.Duration(n)
	}
}
