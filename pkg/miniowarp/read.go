package miniowarp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/results"
)

// Limits of a document of aggregated results, which may be hostile.
const (
	maxText     = 64 << 20  // bytes of its text
	maxItems    = 200_000   // entries of a list: segments of more than two days
	maxMembers  = 10_000    // members of an object: operations, hosts or clients
	maxSegments = 1_000_000 // segments of all operations
)

// anyCode is the code of errors in results that do not tell codes apart.
const anyCode = "(any code)"

// Read makes a report of the aggregated results that minio/warp
// writes unless it is asked for every request.
func Read(r io.Reader, wanted string) (*results.Report, error) {
	limited := &io.LimitedReader{R: r, N: maxText + 1}
	var doc document
	err := decode(limited, &doc)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("the aggregated results are larger than %s", human.Bytes(maxText))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the aggregated results are cut off")
	case err != nil:
		return nil, fmt.Errorf("not aggregated results of minio/warp, or damaged ones: %w", err)
	case doc.Version == nil || doc.Ops.list == nil:
		return nil, errors.New("this JSON document does not have the aggregated results of minio/warp")
	case *doc.Version != 2:
		return nil, fmt.Errorf("these are aggregated results of version %v; warp knows version 2", *doc.Version)
	}
	return doc.report(wanted), nil
}

// decode decodes the only JSON document of r.
func decode(r io.Reader, doc *document) error {
	d := json.NewDecoder(r)
	if err := d.Decode(doc); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the document")
	}
	return nil
}

// A document has the members of aggregated results that a report can use.
type document struct {
	Version *number    `json:"v"`
	Command string     `json:"commandline"`
	Final   *bool      `json:"final"`
	Ops     operations `json:"by_op_type"`
}

// operations are decoded one at a time, so that the lists of only one take memory.
type operations struct{ list []results.Operation }

func (o *operations) UnmarshalJSON(b []byte) error {
	o.list = []results.Operation{}
	segments := 0
	return eachValue(b, '{', maxMembers, func(name string, d *json.Decoder) error {
		var a opResults
		if err := d.Decode(&a); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n := len(a.Throughput.Segmented.Segments)
		if segments += n; segments > maxSegments {
			return fmt.Errorf("there are more than %d segments", maxSegments)
		}
		if n > 0 && a.Throughput.Segmented.Millis == 0 {
			return fmt.Errorf("%s: its segments have no length", name)
		}
		o.list = append(o.list, a.operation(name))
		return nil
	})
}

// eachValue calls do for each value of an object or a list of up to limit values, with the name
// of the value in an object, and with a decoder at the value. null is empty.
func eachValue(b []byte, open json.Delim, limit int, do func(name string, d *json.Decoder) error) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	kind := "a list"
	if open == '{' {
		kind = "an object"
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil {
		return err
	} else if t != open {
		return fmt.Errorf("%s is missing", kind)
	}
	for n := 0; d.More(); n++ {
		if n == limit {
			return fmt.Errorf("%s has more than %d entries", kind, limit)
		}
		name := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return err
			}
			name = fmt.Sprint(t)
		}
		if err := do(name, d); err != nil {
			return err
		}
	}
	return nil
}

// opResults has the members of an operation that a report can use.
type opResults struct {
	Requests    number            `json:"total_requests"`
	Objects     number            `json:"total_objects"`
	Errors      number            `json:"total_errors"`
	Bytes       number            `json:"total_bytes"`
	Concurrency number            `json:"concurrency"`
	Start       instant           `json:"start_time"`
	End         instant           `json:"end_time"`
	FirstErrors items[string]     `json:"first_errors"`
	Hosts       items[string]     `json:"hosts"`
	Clients     items[string]     `json:"clients"`
	Throughput  throughput        `json:"throughput"`
	ByHost      table[throughput] `json:"throughput_by_host"`
	ByClient    table[throughput] `json:"throughput_by_client"`
	Latencies   table[periods]    `json:"requests_by_client"`
}

type throughput struct {
	Millis    number `json:"measure_duration_millis"`
	Bytes     number `json:"bytes"`
	Objects   number `json:"objects"`
	Ops       number `json:"ops"`
	Errors    number `json:"errors"`
	Segmented struct {
		Millis   number             `json:"segment_duration_millis"`
		Segments items[segmentRate] `json:"segments"`
	} `json:"segmented"`
}

type segmentRate struct {
	Start   instant `json:"start"`
	Bytes   number  `json:"bytes_per_sec"`
	Objects number  `json:"obj_per_sec"`
}

// requestStats are the requests of one client in one period, of one size or of a range of sizes.
type requestStats struct {
	Requests number  `json:"requests"`
	Skipped  bool    `json:"skipped"`
	Mean     *number `json:"dur_avg_millis"`
	P50      *number `json:"dur_median_millis"`
	P90      *number `json:"dur_90_millis"`
	P99      *number `json:"dur_99_millis"`
	Fastest  *number `json:"fastest_millis"`
	Slowest  *number `json:"slowest_millis"`
	Size     number  `json:"obj_size"`

	RangeMean *number `json:"avg_duration_millis"`
	MinSize   number  `json:"min_size"`
	MaxSize   number  `json:"max_size"`

	FirstByte *struct {
		Mean    *number `json:"average_millis"`
		P50     *number `json:"median_millis"`
		P90     *number `json:"p90_millis"`
		P99     *number `json:"p99_millis"`
		Fastest *number `json:"fastest_millis"`
		Slowest *number `json:"slowest_millis"`
	} `json:"first_byte"`
}

// number is never negative and small enough that sums of it are finite.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f < 0 || f > 1e15 {
		return fmt.Errorf("%g cannot be", f)
	}
	*n = number(f)
	return nil
}

// instant is a time that can be added to and written again.
type instant struct{ time.Time }

func (i *instant) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &i.Time); err != nil {
		return err
	}
	if i.Time = i.UTC(); !i.IsZero() && (i.Year() < 1971 || i.Year() > 2200) {
		return fmt.Errorf("the year %d is impossible", i.Year())
	}
	return nil
}

// items is a list of bounded length.
type items[T any] []T

func (l *items[T]) UnmarshalJSON(b []byte) error {
	return eachValue(b, '[', maxItems, func(_ string, d *json.Decoder) error {
		var v T
		err := d.Decode(&v)
		*l = append(*l, v)
		return err
	})
}

// table is an object of bounded size.
type table[T any] map[string]T

func (t *table[T]) UnmarshalJSON(b []byte) error {
	*t = table[T]{}
	return eachValue(b, '{', maxMembers, func(name string, d *json.Decoder) error {
		var v T
		err := d.Decode(&v)
		(*t)[name] = v
		return err
	})
}

// periods adds up the periods of a client while they are read.
type periods struct {
	duration, ttfb   averager
	minSize, maxSize float64
	sized            bool
}

func (p *periods) UnmarshalJSON(b []byte) error {
	type period struct {
		Single *requestStats `json:"single_sized_requests"`
		Multi  *struct {
			BySize items[requestStats] `json:"by_size"`
		} `json:"multi_sized_requests"`
	}
	return eachValue(b, '[', math.MaxInt, func(_ string, d *json.Decoder) error {
		var v period
		if err := d.Decode(&v); err != nil {
			return err
		}
		if v.Single != nil {
			v.Single.MinSize, v.Single.MaxSize = v.Single.Size, v.Single.Size
			p.add(v.Single)
		}
		if v.Multi != nil {
			for i := range v.Multi.BySize {
				p.add(&v.Multi.BySize[i])
			}
		}
		return nil
	})
}

func (p *periods) add(r *requestStats) {
	if r.Requests == 0 {
		return
	}
	size := periods{minSize: float64(r.MinSize), maxSize: float64(r.MaxSize), sized: true}
	if !r.Skipped {
		if r.Mean == nil {
			r.Mean = r.RangeMean
		}
		size.duration.add(r.Requests, r.Mean, [...]*number{r.P50, r.P90, r.P99}, r.Fastest, r.Slowest)
		if f := r.FirstByte; f != nil {
			size.ttfb.add(r.Requests, f.Mean, [...]*number{f.P50, f.P90, f.P99}, f.Fastest, f.Slowest)
		}
	}
	p.merge(&size)
}

func (p *periods) merge(o *periods) {
	p.duration.merge(&o.duration)
	p.ttfb.merge(&o.ttfb)
	if !o.sized {
		return
	}
	if !p.sized {
		p.minSize = o.minSize
	}
	p.sized, p.minSize, p.maxSize = true, min(p.minSize, o.minSize), max(p.maxSize, o.maxSize)
}

// An averager weights figures of pieces by their requests.
type averager struct {
	n, mean    float64
	percentile [3]float64 // times requests
	known      [3]float64 // requests
	fastest    float64
	slowest    float64
	extremesOf float64 // requests
}

func (a *averager) add(n number, mean *number, percentiles [3]*number, fastest, slowest *number) {
	if mean == nil {
		return
	}
	one := averager{n: float64(n), mean: float64(*mean) * float64(n)}
	for i, v := range percentiles {
		if v != nil {
			one.percentile[i], one.known[i] = float64(*v)*float64(n), float64(n)
		}
	}
	if fastest != nil && slowest != nil {
		one.fastest, one.slowest, one.extremesOf = float64(*fastest), float64(*slowest), float64(n)
	}
	a.merge(&one)
}

func (a *averager) merge(o *averager) {
	if o.extremesOf > 0 {
		if a.extremesOf == 0 {
			a.fastest = o.fastest
		}
		a.fastest, a.slowest = min(a.fastest, o.fastest), max(a.slowest, o.slowest)
	}
	a.n, a.mean, a.extremesOf = a.n+o.n, a.mean+o.mean, a.extremesOf+o.extremesOf
	for i := range a.percentile {
		a.percentile[i] += o.percentile[i]
		a.known[i] += o.known[i]
	}
}

// stats says only what is known of all of the requests.
func (a *averager) stats() *results.AveragedStats {
	if a.n == 0 {
		return nil
	}
	s := &results.AveragedStats{Count: whole(a.n), Mean: a.mean / a.n}
	for i, p := range [...]**float64{&s.P50, &s.P90, &s.P99} {
		if a.known[i] == a.n {
			v := a.percentile[i] / a.n
			*p = &v
		}
	}
	if a.extremesOf == a.n {
		s.Min, s.Max = &a.fastest, &a.slowest
	}
	return s
}

// whole is a number of things; the limit keeps sums within 64 bits.
func whole(f float64) uint64 { return uint64(min(math.Round(f), 1e15)) }

func (a *opResults) operation(name string) results.Operation {
	var all periods
	for _, p := range a.Latencies {
		all.merge(&p)
	}
	rate := &a.Throughput
	op := results.Operation{
		Op: name, Requests: whole(float64(a.Requests)), Errors: whole(float64(a.Errors)), ErrorsByCode: map[string]uint64{},
		Start: a.Start.Time, Stop: a.End.Time, RanS: max(0, a.End.Sub(a.Start.Time).Seconds()),
		WindowStart: a.Start.Time, WindowS: rate.seconds(), WindowBasis: results.Aggregated,
		Concurrency: int(whole(float64(a.Concurrency))), Clients: len(a.Clients),
		Objects: float64(rate.Objects), Bytes: whole(float64(rate.Bytes)), ObjectBytes: a.sizes(&all),
		AveragedDuration: all.duration.stats(), AveragedTTFB: all.ttfb.stats(),
		Slowest: []results.SlowRequest{}, // unknown
	}
	op.Inside = op.Requests - min(op.Errors, op.Requests)
	if per := exact.Ratio(float64(a.Objects), float64(a.Requests)); per > 0 {
		op.ObjectsPerOp = results.SizeRange{Min: uint64(per), Max: uint64(math.Ceil(per)), Mean: per}
	}
	if op.Errors > 0 {
		op.ErrorsByCode[anyCode] = op.Errors
		text := "(unknown)"
		if len(a.FirstErrors) > 0 {
			text = a.FirstErrors[0]
		}
		op.FirstErrors = []results.FirstError{{Code: anyCode, Error: text}}
	}
	op.ObjectsPerS, op.BytesPerS = rate.perSecond()
	op.SegmentS, op.Segments = float64(rate.Segmented.Millis)/1e3, rate.segments()
	if len(op.Segments) > 0 {
		op.WindowStart = op.Segments[0].Start
	}
	op.WindowEnd = op.WindowStart.Add(time.Duration(op.WindowS * 1e9))
	op.Throughput = results.ExtremesOf(op.Segments, op.HasBytes())
	op.Hosts, op.ByClient = partsOf(&op, a.ByHost, a.Hosts), partsOf(&op, a.ByClient, a.Clients)
	return op
}

// sizes is the range of the size classes that requests are in, where sizes vary.
func (a *opResults) sizes(all *periods) results.SizeRange {
	s := results.SizeRange{Mean: exact.Ratio(float64(a.Bytes), float64(a.Requests)-min(float64(a.Errors), float64(a.Requests)))}
	switch {
	case a.Bytes == 0:
	case all.sized:
		s.Min, s.Max = whole(all.minSize), whole(all.maxSize)
	default:
		s.Max = whole(math.Ceil(s.Mean))
	}
	return s
}

// seconds is the time that was measured in; no run takes longer than 30 years.
func (r *throughput) seconds() float64 { return min(float64(r.Millis)/1e3, 1e9) }

func (r *throughput) perSecond() (objects, payload float64) {
	return exact.Ratio(float64(r.Objects), r.seconds()), exact.Ratio(float64(r.Bytes), r.seconds())
}

// segments are in order of time, which the document does not promise.
func (r *throughput) segments() []results.Segment {
	length := min(float64(r.Segmented.Millis)/1e3, 1e9)
	list := make([]results.Segment, 0, len(r.Segmented.Segments))
	for _, s := range r.Segmented.Segments {
		list = append(list, results.Segment{
			Start: s.Start.Time, DurationS: length, BytesPerS: float64(s.Bytes), ObjectsPerS: float64(s.Objects),
			Bytes: whole(float64(s.Bytes) * length), Objects: float64(s.Objects) * length,
		})
	}
	slices.SortStableFunc(list, func(a, b results.Segment) int { return a.Start.Compare(b.Start) })
	return list
}

func partsOf(op *results.Operation, rates table[throughput], names []string) []results.Part {
	parts := []results.Part{}
	for name, r := range rates {
		p := results.Part{
			Name: name, Requests: whole(float64(r.Ops)) + whole(float64(r.Errors)), Inside: whole(float64(r.Ops)), Errors: whole(float64(r.Errors)),
			Objects: float64(r.Objects), Bytes: whole(float64(r.Bytes)),
		}
		p.ObjectsPerS, p.BytesPerS = r.perSecond()
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		for _, name := range names {
			parts = append(parts, results.Part{Name: name})
		}
	}
	if len(parts) == 1 { // by host it is the whole run that was divided by its length
		p := &parts[0]
		p.Objects, p.Bytes, p.ObjectsPerS, p.BytesPerS = op.Objects, op.Bytes, op.ObjectsPerS, op.BytesPerS
	}
	slices.SortFunc(parts, func(a, b results.Part) int { return strings.Compare(a.Name, b.Name) })
	return parts
}

// report makes groups of operations that ran at the same time.
func (d *document) report(wanted string) *results.Report {
	r := &results.Report{Version: 2, Command: d.Command, Groups: []results.GroupReport{}, Operations: []results.Operation{}, Warnings: []string{
		"These are aggregated results of minio/warp, not a log of requests: throughput and segments are what it computed, " +
			"percentiles (≈) are averages of the percentiles of parts of the run and cannot be compared with percentiles of all requests, " +
			"and other figures of a report are unknown.",
	}}
	if d.Final != nil && !*d.Final {
		r.Warnings = append(r.Warnings, "The run was still going on when these results were written.")
	}
	slices.SortStableFunc(d.Ops.list, func(a, b results.Operation) int { return a.Start.Compare(b.Start) })
	var end time.Time
	for i := range d.Ops.list {
		op := &d.Ops.list[i]
		if i == 0 || !op.Start.Before(end) {
			r.Groups = append(r.Groups, results.GroupReport{Kind: results.KindAggregated, WindowStart: op.WindowStart, WindowBasis: results.Aggregated, Operations: []string{}})
			end = op.Stop
		}
		end = later(end, op.Stop)
		op.Group = len(r.Groups) - 1
		addTo(&r.Groups[op.Group], op)
	}
	for _, op := range d.Ops.list {
		op.Share = exact.Ratio(float64(op.Requests), float64(r.Groups[op.Group].Requests))
		r.Operations = append(r.Operations, op)
	}
	slices.SortStableFunc(r.Operations, func(a, b results.Operation) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Op, b.Op))
	})
	for i := range r.Operations {
		op := &r.Operations[i]
		r.Groups[op.Group].Operations = append(r.Groups[op.Group].Operations, op.Op)
	}
	only(r, wanted)
	return r
}

func addTo(g *results.GroupReport, op *results.Operation) {
	if op.WindowStart.Before(g.WindowStart) {
		g.WindowStart = op.WindowStart
	}
	g.WindowEnd = later(g.WindowEnd, op.WindowEnd)
	g.WindowS = max(g.WindowS, op.WindowS)
	g.Concurrency, g.Clients = max(g.Concurrency, op.Concurrency), max(g.Clients, op.Clients)
	g.Requests += op.Requests
	g.Errors += op.Errors
	g.ObjectsPerS += op.ObjectsPerS
	g.BytesPerS += op.BytesPerS
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// only leaves one operation, where one is wanted, with groups of its own.
func only(r *results.Report, wanted string) {
	if wanted == "" {
		return
	}
	all := r.Operations
	r.Groups, r.Operations = []results.GroupReport{}, []results.Operation{}
	for _, op := range all {
		if op.Op != wanted {
			continue
		}
		g := results.GroupReport{Kind: results.KindAggregated, WindowStart: op.WindowStart, WindowBasis: results.Aggregated, Operations: []string{op.Op}}
		addTo(&g, &op)
		op.Group = len(r.Groups)
		r.Groups, r.Operations = append(r.Groups, g), append(r.Operations, op)
	}
}
