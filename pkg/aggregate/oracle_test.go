package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// This file implements the analysis as docs/numbers.md specifies it ("To the last digit"), with all
// rows in memory and no regard for speed. It shares no code with the analysis that it checks.

// An oracle is a log with its comments.
type oracle struct {
	log       *memoryLog
	skip, dur int64
}

// An oracleGroup is a group as defined in docs/numbers.md.
type oracleGroup struct {
	kind   string
	b, e   int64
	window bool // it has one
	run    string
	ops    map[string][]oplog.Record
}

// window returns the window in the last comment that has one.
func (o *oracle) window() (w oplog.Window) {
	if n := len(o.log.windows); n > 0 {
		w = o.log.windows[n-1]
	}
	return w
}

func (o *oracle) groups() (all []*oracleGroup) {
	byKey := map[string]*oracleGroup{}
	put := func(key, kind string, r oplog.Record) *oracleGroup {
		g := byKey[key]
		if g == nil {
			g = &oracleGroup{kind: kind, ops: map[string][]oplog.Record{}}
			byKey[key] = g
			all = append(all, g)
		}
		g.ops[r.Op] = append(g.ops[r.Op], r)
		return g
	}
	windows, measured := o.windows()
	var rest []oplog.Record
	for _, r := range o.log.rows {
		switch {
		case r.Statement.Number > 0:
			put(fmt.Sprint(r.Statement), "statement", r)
		case !measured:
			rest = append(rest, r)
		case r.Start < startOf(windows, &r):
			put("preparation", "preparation", r)
		default:
			g := put("measured", "measured", r)
			g.b, g.e, g.window = common(windows)
		}
	}
	if g := byKey["measured"]; g != nil && g.e == 0 { // killed
		w := windows[0].Window
		b, e := derive(g.ops)
		if g.b, g.e, g.window = w.Begin, e, true; w.Begin == 0 {
			g.b = b
		}
	}
	for i, ops := range together(rest) {
		for _, rows := range ops {
			for _, r := range rows {
				put(fmt.Sprint("derived", i), "derived", r)
			}
		}
		g := byKey[fmt.Sprint("derived", i)]
		g.b, g.e = derive(g.ops)
		g.window = true
	}
	for _, g := range all {
		if g.b += o.skip; g.e < g.b {
			g.e = g.b
		}
	}
	return o.apart(all)
}

// windows returns the windows of all runs, or false if the log has none.
func (o *oracle) windows() ([]oplog.Origin, bool) {
	h := o.log.header
	if len(h.Merged) == 0 {
		w := o.window()
		return []oplog.Origin{{Window: &w}}, h.Windowed
	}
	for _, m := range h.Merged {
		if m.Window == nil || m.Window.End == 0 {
			return nil, false
		}
	}
	return h.Merged, true
}

func startOf(windows []oplog.Origin, r *oplog.Record) int64 {
	for _, m := range windows {
		if len(windows) == 1 || m.Run == r.Run && m.Client == r.Client {
			if m.Window.Start != 0 {
				return m.Window.Start
			}
		}
	}
	return math.MaxInt64
}

func common(windows []oplog.Origin) (b, e int64, ok bool) {
	b, e, ok = math.MinInt64, math.MaxInt64, true
	for _, m := range windows {
		ok = ok && m.Window.Begin != 0
		b, e = max(b, m.Window.Begin), min(e, m.Window.End)
	}
	return b, e, ok
}

func runOf(r *oplog.Record) string {
	if r.Run != "" {
		return r.Run
	}
	return "client " + r.Client
}

// derive returns the window of rows from a log without windows.
func derive(ops map[string][]oplog.Record) (b, e int64) {
	first, begin, end := map[string]int64{}, map[string]int64{}, map[string]int64{}
	run := map[string]string{}
	for _, rows := range ops {
		for i := range rows {
			r := &rows[i]
			thread := fmt.Sprint(r.Run, "/", r.Client, "/", r.Thread)
			if old, ok := first[thread]; !ok || ends(r) < old {
				first[thread] = ends(r)
			}
			run[thread] = runOf(r)
			if old, ok := end[runOf(r)]; !ok || r.Start > old {
				end[runOf(r)] = r.Start
			}
		}
	}
	for thread, at := range first {
		begin[run[thread]] = max(begin[run[thread]], at)
	}
	b, e = math.MinInt64, math.MaxInt64
	for k := range begin {
		b, e = max(b, begin[k]), min(e, end[k])
	}
	return b, e
}

func ends(r *oplog.Record) int64 { return r.Start + int64(max(r.Duration, 0)) }

// together returns the operations whose times overlap within a run.
func together(rows []oplog.Record) (groups []map[string][]oplog.Record) {
	byOp := map[string][]oplog.Record{}
	for _, r := range rows {
		byOp[r.Op] = append(byOp[r.Op], r)
	}
	for op, rows := range byOp {
		joined := map[string][]oplog.Record{op: rows}
		var others []map[string][]oplog.Record
		for _, g := range groups {
			if slices.ContainsFunc(keys(g), func(other string) bool { return overlap(rows, byOp[other]) }) {
				for k, v := range g {
					joined[k] = v
				}
			} else {
				others = append(others, g)
			}
		}
		groups = append(others, joined)
	}
	return groups
}

func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}

func overlap(a, b []oplog.Record) bool {
	for _, run := range runsOf(a, b) {
		first, last, any1 := rangeOf(a, run)
		from, to, any2 := rangeOf(b, run)
		if any1 && any2 && first < to && from < last {
			return true
		}
	}
	return false
}

func runsOf(all ...[]oplog.Record) []string {
	names := map[string]bool{}
	for _, rows := range all {
		for i := range rows {
			names[runOf(&rows[i])] = true
		}
	}
	return keys(names)
}

// rangeOf returns the range from the first start to the last end, in all runs if run is empty.
func rangeOf(rows []oplog.Record, run string) (first, last int64, found bool) {
	first, last = math.MaxInt64, math.MinInt64
	for i := range rows {
		if r := &rows[i]; run == "" || runOf(r) == run {
			first, last, found = min(first, r.Start), max(last, ends(r)), true
		}
	}
	return first, last, found
}

// apart reports each run separately if they hardly overlap.
func (o *oracle) apart(all []*oracleGroup) (groups []*oracleGroup) {
	few := func(g *oracleGroup) bool {
		n := 0
		for _, rows := range g.ops {
			n += g.inside(rows)
		}
		return n < 10
	}
	runs := func(g *oracleGroup) []string {
		var rows [][]oplog.Record
		for _, r := range g.ops {
			rows = append(rows, r)
		}
		return runsOf(rows...)
	}
	split := false
	for _, g := range all {
		split = split || (g.kind == "measured" || g.kind == "derived") && len(runs(g)) > 1 && few(g) && o.skip == 0
	}
	for _, g := range all {
		if !split || len(runs(g)) < 2 || !few(g) {
			groups = append(groups, g)
			continue
		}
		for _, run := range runs(g) {
			one := &oracleGroup{kind: g.kind, run: run, ops: map[string][]oplog.Record{}}
			var all []oplog.Record
			for op, rows := range g.ops {
				for _, r := range rows {
					if runOf(&r) == run {
						one.ops[op] = append(one.ops[op], r)
						all = append(all, r)
					}
				}
			}
			if g.kind != "derived" {
				groups = append(groups, one)
				continue
			}
			for _, ops := range together(all) {
				groups = append(groups, &oracleGroup{kind: g.kind, run: run, ops: ops})
			}
		}
	}
	return groups
}

// counted returns the time that decides where a row counts.
func counted(r *oplog.Record) int64 {
	if r.Due != 0 {
		return r.Due
	}
	return r.Start
}

// place reports whether a row is before the window, in it, or after it.
func (g *oracleGroup) place(r *oplog.Record) int {
	switch t := counted(r); {
	case t < g.b:
		return -1
	case t > g.e:
		return 1
	}
	return 0
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (g *oracleGroup) inside(rows []oplog.Record) (n int) {
	for i := range rows {
		if r := &rows[i]; g.window && r.Err == "" && g.place(r) == 0 {
			n++
		}
	}
	return n
}

// An oracleOp is an operation as it is reported: in the window, or as a whole.
type oracleOp struct {
	rows    []oplog.Record
	g       *oracleGroup // with the window of this operation
	whole   bool
	from    int64 // the start of the first segment
	started []oplog.Record
	ops     map[string][]oplog.Record // of the whole group
}

func (o *oracle) op(g *oracleGroup, rows []oplog.Record) *oracleOp {
	p := &oracleOp{rows: rows, g: g, from: g.b, ops: g.ops}
	if !g.window || g.inside(rows) < 10 && o.skip == 0 {
		p.whole, p.from = true, 0
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for _, rows := range g.ops {
			from, to, _ := rangeOf(rows, "")
			first, last = min(first, from), max(last, to)
		}
		p.g = &oracleGroup{kind: g.kind, b: first, e: last, window: true, run: g.run}
		p.started = rows
		return p
	}
	for _, r := range rows {
		if g.place(&r) == 0 {
			p.started = append(p.started, r)
		}
	}
	return p
}

// shareBetween returns the part of an amount between two instants.
func shareBetween(r *oplog.Record, amount uint64, x, y int64) uint64 {
	s, e := r.Start, ends(r)
	if s == e {
		return amount // the caller knows whether it is inside
	}
	at := func(t int64) uint64 {
		t = min(max(t, s), e)
		n := new(big.Int).Mul(new(big.Int).SetUint64(amount), big.NewInt(t-s))
		return n.Div(n, big.NewInt(e-s)).Uint64()
	}
	return at(y) - at(x)
}

// touches reports whether a successful row has a share of the window.
func (p *oracleOp) touches(r *oplog.Record) bool {
	if r.Err != "" {
		return false
	}
	if r.Start == ends(r) {
		return r.Start >= p.g.b && r.Start <= p.g.e
	}
	return r.Start < p.g.e && ends(r) > p.g.b
}

// borders returns the starts of all segments, and the end of the last one.
func (p *oracleOp) borders(asked int64) (all []int64, length int64) {
	if p.g.e <= p.g.b {
		return nil, 0
	}
	lengths := []int64{1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400}
	for i := range lengths {
		lengths[i] *= 1e9
	}
	if asked > 0 {
		lengths = []int64{asked}
	}
	for _, length = range lengths {
		all = []int64{p.g.b}
		at := p.from
		if p.whole {
			at = p.g.b / length * length
		}
		for at += length; at < p.g.e; at += length {
			all = append(all, at)
		}
		if all = append(all, p.g.e); len(all) <= 401 || asked > 0 {
			break
		}
	}
	return all, length
}

func (p *oracleOp) segments(asked int64) (list []results.Segment, length float64) {
	at, l := p.borders(asked)
	if at == nil {
		return []results.Segment{}, 0
	}
	list = make([]results.Segment, len(at)-1)
	parts := make([]uint64, len(list))
	for i := range list {
		list[i].Start, list[i].DurationS = time.Unix(0, at[i]).UTC(), float64(at[i+1]-at[i])/1e9
	}
	// holding returns the segment that contains an instant. A border belongs to the segment that
	// begins there.
	holding := func(t int64) int {
		i, exact := slices.BinarySearch(at, t)
		if !exact {
			i--
		}
		return min(max(i, 0), len(list)-1)
	}
	times := make([][]time.Duration, len(list))
	stamped := make([][]*oplog.Record, len(list))
	for k := range p.started {
		r := &p.started[k]
		if i := holding(min(max(counted(r), p.g.b), p.g.e-1)); r.Err != "" {
			list[i].Errors++
			if list[i].ErrorsByCode == nil {
				list[i].ErrorsByCode = map[string]uint64{}
			}
			list[i].ErrorsByCode[r.Code()]++
		} else {
			times[i] = append(times[i], time.Duration(ends(r)-r.Start))
			if r.ClientTime > 0 {
				stamped[i] = append(stamped[i], r)
			}
		}
	}
	for k := range p.rows {
		r := &p.rows[k]
		if !p.touches(r) {
			continue
		}
		s, e := r.Start, ends(r)
		first := holding(max(s, p.g.b))
		last := first
		if e > s {
			last = holding(min(e, p.g.e) - 1)
		}
		for i := first; i <= last; i++ {
			list[i].Bytes += shareBetween(r, uint64(r.Bytes), at[i], at[i+1])
			parts[i] += shareBetween(r, uint64(r.Objects)<<20, at[i], at[i+1])
			if first == last && s >= p.g.b && e <= p.g.e {
				list[i].FullOps++
			} else {
				list[i].PartialOps++
			}
		}
		if s >= p.g.b {
			list[first].OpsStarted++
		}
		if e <= p.g.e {
			list[last].OpsEnded++
		}
	}
	for i := range list {
		list[i].Objects = float64(parts[i]) / (1 << 20)
		list[i].BytesPerS, list[i].ObjectsPerS = float64(list[i].Bytes)/list[i].DurationS, list[i].Objects/list[i].DurationS
		if t := times[i]; len(t) > 0 {
			list[i].Duration = segmentStats(t)
		}
		list[i].ClientShare = clientShare(stamped[i], len(times[i]))
		if n := float64(list[i].Errors) + float64(len(times[i])); n > 0 {
			rate := float64(list[i].Errors) / n
			list[i].ErrorRate = &rate
		}
	}
	return list, float64(l) / 1e9
}

// clientShare returns nil unless 99 % of the requests have stamps.
func clientShare(stamped []*oplog.Record, requests int) *float64 {
	if len(stamped) == 0 || 100*len(stamped) < 99*requests {
		return nil
	}
	var client, whole int64
	for _, r := range stamped {
		client, whole = client+int64(r.ClientTime), whole+int64(r.Duration)
	}
	share := float64(client) / float64(whole)
	return &share
}

func segmentStats(t []time.Duration) *results.SegmentStats {
	slices.Sort(t)
	at := func(perMille int) float64 { return float64(nearestRank(t, perMille)) / 1e6 }
	return &results.SegmentStats{Count: uint64(len(t)), P50: at(500), P90: at(900), P99: at(990), Max: at(1000)}
}

// rates covers all rows between the ends of the window.
func (p *oracleOp) rates() (bytes uint64, objects float64, perS [2]float64, ended int) {
	var units uint64
	for i := range p.rows {
		r := &p.rows[i]
		if p.touches(r) {
			bytes += shareBetween(r, uint64(r.Bytes), p.g.b, p.g.e)
			units += shareBetween(r, uint64(r.Objects)<<20, p.g.b, p.g.e)
			if ends(r) <= p.g.e {
				ended++
			}
		}
	}
	objects = float64(units) / (1 << 20)
	if s := float64(p.g.e-p.g.b) / 1e9; s > 0 {
		perS = [2]float64{float64(bytes) / s, objects / s}
	}
	return bytes, objects, perS, ended
}

// times returns the times of the successful requests that started in the window.
func (p *oracleOp) times(of func(*oplog.Record) (time.Duration, bool)) (all []time.Duration) {
	for i := range p.started {
		if r := &p.started[i]; r.Err == "" {
			if d, ok := of(r); ok {
				all = append(all, d)
			}
		}
	}
	return all
}

func service(r *oplog.Record) (time.Duration, bool) { return max(r.Duration, 0), true }

func firstByte(r *oplog.Record) (time.Duration, bool) {
	switch {
	case r.FirstByte > 0:
		return r.FirstByte, true
	case r.LastByte > 0:
		return r.Duration - r.LastByte, true
	}
	return 0, false
}

func sinceDue(r *oplog.Record) (time.Duration, bool) {
	return time.Duration(ends(r) - r.Due), r.Due != 0
}
func lagOf(r *oplog.Record) (time.Duration, bool) { return time.Duration(r.Start - r.Due), r.Due != 0 }

func wireOf(r *oplog.Record) (time.Duration, bool) {
	return r.Duration - r.ClientTime, r.ClientTime > 0
}

func clientOf(r *oplog.Record) (time.Duration, bool) { return r.ClientTime, r.ClientTime > 0 }

// stamped returns times that are known for 99 % of the requests, or none.
func (p *oracleOp) stamped(of func(*oplog.Record) (time.Duration, bool)) []time.Duration {
	known := p.times(of)
	if 100*len(known) < 99*len(p.times(service)) {
		return nil
	}
	return known
}

// A checker compares figures and reports where they differ.
type checker struct {
	*testing.T
	where string
}

func (c checker) equal(what string, got, want any) {
	c.Helper()
	if got != want {
		c.Errorf("%s: %s: got %v, want %v", c.where, what, got, want)
	}
}

func (c checker) near(what string, got, want, relative float64) {
	c.Helper()
	if math.Abs(got-want) > math.Abs(want)*relative {
		c.Errorf("%s: %s: got %v, want %v", c.where, what, got, want)
	}
}

// nearestRank returns the quantile by its definition.
func nearestRank(sorted []time.Duration, perMille int) time.Duration {
	rank := (perMille*len(sorted) + 999) / 1000
	return sorted[max(rank, 1)-1]
}

func (c checker) stats(what string, s *results.Stats, values []time.Duration) {
	c.Helper()
	if len(values) == 0 || s == nil {
		c.equal(what+" unknown", s == nil, len(values) == 0)
		return
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	c.equal(what+" count", s.Count, uint64(len(values)))
	c.near(what+" mean", s.Mean, sum/float64(len(values))/1e6, 1e-9)
	c.equal(what+" min", s.Min, float64(values[0])/1e6)
	c.equal(what+" max", s.Max, float64(values[len(values)-1])/1e6)
	for perMille, got := range map[int]float64{250: s.P25, 500: s.P50, 750: s.P75, 900: s.P90, 990: s.P99, 999: s.P999} {
		c.near(fmt.Sprintf("%s %d per mille", what, perMille), got, float64(nearestRank(values, perMille))/1e6, 0.004)
	}
}

// checkOp compares the figures that do not depend on other operations.
func (c checker) checkOp(op *results.Operation, p *oracleOp, dur int64) {
	c.where += " " + op.Op
	var errs, before, beforeErrs, late, lateErrs uint64
	byCode := map[string]uint64{}
	for i := range p.started {
		if code := p.started[i].Code(); code != "" {
			errs++
			byCode[code]++
		}
	}
	var flying, unanswered []float64
	for i := range p.rows {
		r := &p.rows[i]
		failed := uint64(oneIf(r.Err != ""))
		switch at := p.g.place(r); {
		case at < 0:
			before++
			beforeErrs += failed
			if ends(r) > p.g.b {
				flying = append(flying, float64(ends(r)-r.Counted())/1e6)
			}
		case at > 0:
			late++
			lateErrs += failed
		}
	}
	for i := range p.started {
		if r := &p.started[i]; r.Code() == "DrainTimeout" {
			unanswered = append(unanswered, float64(r.Duration)/1e6)
		}
	}
	c.equal("requests", op.Requests, uint64(len(p.rows)))
	c.totals(op, p)
	c.equal("errors", op.Errors, errs)
	c.equal("codes", fmt.Sprint(op.ErrorsByCode), fmt.Sprint(byCode))
	c.equal("inside", op.Inside, uint64(len(p.started))-errs)
	if !p.whole {
		c.equal("before", [2]uint64{op.WarmUp.Requests, op.WarmUp.Errors}, [2]uint64{before, beforeErrs})
		c.equal("after", [2]uint64{op.Late.Requests, op.Late.Errors}, [2]uint64{late, lateErrs})
		c.outside("before", &op.WarmUp, p, -1)
		c.outside("after", &op.Late, p, 1)
		c.equal("in flight", op.InFlight, flightOf(flying))
		if len(unanswered) > 0 {
			c.equal("unanswered", *op.Unanswered, flightOf(unanswered))
		}
	}
	bytes, objects, perS, _ := p.rates()
	c.equal("bytes", op.Bytes, bytes)
	c.equal("objects", op.Objects, objects)
	c.stats("duration", op.Duration, p.times(service))
	c.stats("ttfb", op.TTFB, p.times(firstByte))
	c.stats("lag", op.Lag, p.times(lagOf))
	c.stats("wire", op.Wire, p.stamped(wireOf))
	c.stats("client", op.Client, p.stamped(clientOf))
	c.equal("window start", op.WindowStart.UnixNano(), p.g.b)
	c.equal("window end", op.WindowEnd.UnixNano(), p.g.e)
	c.near("bytes/s", op.BytesPerS, perS[0], 1e-12)
	c.near("objects/s", op.ObjectsPerS, perS[1], 1e-12)
	first, last, _ := rangeOf(p.rows, "")
	c.equal("start", op.Start.UnixNano(), first)
	c.equal("stop", op.Stop.UnixNano(), last)
	want, length := p.segments(dur)
	c.equal("segments", len(op.Segments), len(want))
	for i := range min(len(want), len(op.Segments)) {
		c.segment(fmt.Sprintf("segment %d of %vs from %d to %d", i, length, p.g.b, p.g.e), op.Segments[i], want[i])
	}
	c.slowest(op.Slowest, p.started)
	c.heatMap(op.HeatMap, p, dur)
	if len(want) > 0 {
		c.equal("segment length", op.SegmentS, length)
		c.extremes(op.Throughput, want, length)
	}
}

// outside compares the longest request before or after the window.
func (c checker) outside(where string, got *results.Outside, p *oracleOp, place int) {
	var longest, start int64
	for i := range p.rows {
		if r := &p.rows[i]; p.g.place(r) == place {
			if d := ends(r) - r.Counted(); start == 0 || d > longest || d == longest && r.Counted() < start {
				longest, start = d, r.Counted()
			}
		}
	}
	c.equal("longest "+where, got.LongestMS, float64(longest)/1e6)
	if got.LongestStart != nil {
		c.equal("start of the longest "+where, got.LongestStart.UnixNano(), start)
	}
}

// totals compares the figures of all requests, inside the window or not.
func (c checker) totals(op *results.Operation, p *oracleOp) {
	var retries, good, bytes, objects uint64
	threads, clients := map[string]bool{}, map[string]bool{}
	for _, r := range p.rows {
		retries += uint64(r.Retries)
		if r.Err == "" {
			good, bytes, objects = good+1, bytes+uint64(r.Bytes), objects+uint64(r.Objects)
		}
	}
	all := 0
	for _, rows := range p.ops {
		for _, r := range rows {
			all++
			threads[fmt.Sprint(r.Run, "/", r.Client, "/", r.Thread)], clients[r.Run+"/"+r.Client] = true, true
		}
	}
	c.equal("retries", op.Retries, retries)
	c.equal("share", op.Share, float64(len(p.rows))/float64(all))
	c.equal("threads and clients", [2]int{op.Concurrency, op.Clients}, [2]int{len(threads), len(clients)})
	if good > 0 {
		c.near("bytes of a request", op.ObjectBytes.Mean, float64(bytes)/float64(good), 1e-12)
		c.near("objects of a request", op.ObjectsPerOp.Mean, float64(objects)/float64(good), 1e-12)
	}
}

func (c checker) segment(what string, got, want results.Segment) {
	if a, b := got.Duration, want.Duration; a != nil && b != nil {
		c.equal(what+": requests", a.Count, b.Count)
		c.equal(what+": max", a.Max, b.Max)
		for _, q := range [][2]float64{{a.P50, b.P50}, {a.P90, b.P90}, {a.P99, b.P99}} {
			c.near(what+": percentile", q[0], q[1], 1./256)
		}
		got.Duration, want.Duration = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		c.Errorf("%s: %s: got %+v, want %+v", c.where, what, got, want)
	}
}

// slowest compares only durations if several requests took equally long.
func (c checker) slowest(got []results.SlowRequest, started []oplog.Record) {
	rows := slices.Clone(started)
	slices.SortStableFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(ends(&b)-b.Start, ends(&a)-a.Start) })
	rows = rows[:min(20, len(rows))]
	c.equal("slowest requests", len(got), len(rows))
	for i := range min(len(got), len(rows)) {
		r, s := &rows[i], got[i]
		c.equal("slow request's duration", s.DurationMS, float64(ends(r)-r.Start)/1e6)
		same := func(o oplog.Record) bool {
			return o.Start == s.Start.UnixNano() && o.Key == s.Key && o.Endpoint == s.Host && o.Client == s.Client && o.Run == s.Run &&
				o.Thread == s.Thread && o.Bytes == s.Bytes && o.Status == s.Status && o.Code() == s.Error && float64(ends(&o)-o.Start)/1e6 == s.DurationMS
		}
		if !slices.ContainsFunc(started, same) {
			c.Errorf("%s: no request in the log is %+v", c.where, s)
		}
	}
}

// heatMap counts the durations in each segment again. A histogram may put a time within 0.4 % of a
// bound on the other side of it.
func (c checker) heatMap(m *results.HeatMap, p *oracleOp, dur int64) {
	at, _ := p.borders(dur)
	if m == nil {
		c.equal("no heat map", len(at) == 0 || len(p.times(service)) == 0, true)
		return
	}
	c.equal("rows of the heat map", len(m.Counts), len(at)-1)
	for i, row := range m.Counts {
		var want []float64
		for k := range p.started {
			r := &p.started[k]
			s := min(max(counted(r), p.g.b), p.g.e-1)
			if r.Err == "" && s >= at[i] && s < at[i+1] {
				want = append(want, float64(ends(r)-r.Start)/1e6)
			}
		}
		slices.Sort(want)
		var below uint64
		for k, n := range row {
			from, to := m.BoundsMS[k], m.BoundsMS[k+1]
			low, _ := slices.BinarySearch(want, to*(1-1./256))
			high, _ := slices.BinarySearch(want, to*(1+1./256))
			if below += n; from >= to || below < uint64(low) || below > uint64(high) {
				c.Errorf("%s: row %d of the heat map has %d below %v ms, want %d to %d", c.where, i, below, to, low, high)
			}
		}
		c.equal("requests in a row of the heat map", below, uint64(len(want)))
	}
}

func flightOf(ms []float64) results.Flight {
	if len(ms) == 0 {
		return results.Flight{}
	}
	return results.Flight{Requests: uint64(len(ms)), ShortestMS: slices.Min(ms), LongestMS: slices.Max(ms)}
}

func (c checker) extremes(e *results.Extremes, all []results.Segment, length float64) {
	all = slices.Clone(all)
	for range 2 { // the end, then the start
		if n := len(all); n > 1 && all[n-1].DurationS < length/2 {
			a, b := &all[n-2], &all[n-1]
			a.DurationS += b.DurationS
			a.BytesPerS = (float64(a.Bytes) + float64(b.Bytes)) / a.DurationS
			a.ObjectsPerS = (a.Objects + b.Objects) / a.DurationS
			a.Bytes, a.Objects = a.Bytes+b.Bytes, a.Objects+b.Objects
			all = all[:n-1]
		}
		slices.Reverse(all)
	}
	var full []float64
	for i := range all {
		rate := all[i].ObjectsPerS
		if e.By == "bytes" {
			rate = all[i].BytesPerS
		}
		full = append(full, rate)
	}
	sort.Float64s(full)
	rate := func(s results.Segment) float64 {
		if e.By == "bytes" {
			return s.BytesPerS
		}
		return s.ObjectsPerS
	}
	c.equal("segments to choose from", e.Segments, len(full))
	c.near("slowest", rate(e.Slowest), full[0], 1e-12)
	c.near("median", rate(e.Median), full[(len(full)-1)/2], 1e-12)
	c.near("fastest", rate(e.Fastest), full[len(full)-1], 1e-12)
}

// checkGroup compares a group and its operations.
func (c checker) checkGroup(r *results.Report, index int, g *oracleGroup, o *oracle) {
	gr := &r.Groups[index]
	var started, due, ended, errs int
	var response, took []time.Duration
	ops := 0
	for i := range r.Operations {
		op := &r.Operations[i]
		if op.Group != index {
			continue
		}
		p := o.op(g, g.ops[op.Op])
		c.checkOp(op, p, o.dur)
		started += len(p.started)
		for k := range p.started {
			due += oneIf(p.started[k].Due != 0)
			errs += oneIf(p.started[k].Err != "")
		}
		_, _, _, n := p.rates()
		ended += n
		response = append(response, p.times(sinceDue)...)
		took = append(took, p.times(service)...)
		ops++
	}
	if ops > 1 {
		c.stats("service time of the group", gr.Duration, took)
	} else {
		c.equal("service time of a group of one", gr.Duration, (*results.Stats)(nil))
	}
	c.equal("errors of the group", gr.Errors, uint64(errs))
	if g.run != "" {
		return
	}
	var waits []time.Duration
	if g.kind == "measured" || g.kind == "derived" && due > 0 {
		waits = o.unsent(gr.WindowStart, gr.WindowEnd)
	}
	if due < started || due+len(waits) == 0 {
		c.equal("unknown offered", gr.OfferedPerS, 0.0)
		return
	}
	c.equal("unsent", gr.Unsent, int64(len(waits)))
	c.stats("response", gr.Response, append(response, waits...))
	if gr.WindowS > 0 {
		c.near("offered", gr.OfferedPerS, float64(due+len(waits))/gr.WindowS, 1e-12)
		c.near("achieved", gr.AchievedPerS, float64(ended)/gr.WindowS, 1e-12)
	}
}

// unsent returns the waits in the trailer of requests that were due in the window.
func (o *oracle) unsent(begin, end time.Time) (waits []time.Duration) {
	for _, t := range append([]*oplog.Trailer{&o.log.trailer}, o.log.trailer.Merged...) {
		if t == nil || t.UnsentWaits == nil {
			continue
		}
		u := t.UnsentWaits
		for i := range u.Count {
			due := u.FirstDue.Add(time.Duration(math.Floor(float64(i) * u.Interval)))
			if !due.Before(begin) && !due.After(end) {
				waits = append(waits, u.Until.Sub(due))
			}
		}
	}
	return waits
}

// check compares a report with the definition.
func (o *oracle) check(t *testing.T, r *results.Report, where string) {
	t.Helper()
	groups := o.groups()
	if len(groups) != len(r.Groups) {
		t.Errorf("%s: %d groups, want %d", where, len(r.Groups), len(groups))
		return
	}
	for _, g := range groups {
		c, found := checker{t, where + " " + g.kind + " " + g.run}, false
		for i := range r.Groups {
			if g.reported(r, i) {
				c.checkGroup(r, i, g, o)
				found = true
			}
		}
		c.equal("reported", found, true)
	}
}

// reported reports whether g is the group of the report.
func (g *oracleGroup) reported(r *results.Report, index int) bool {
	names := slices.Clone(r.Groups[index].Operations)
	sort.Strings(names)
	if r.Groups[index].Kind != g.kind || strings.Join(names, " ") != strings.Join(keys(g.ops), " ") {
		return false
	}
	for i := range r.Operations {
		if op := &r.Operations[i]; op.Group == index {
			row := &g.ops[op.Op][0]
			return int(row.Statement.Number) == op.Statement && row.Statement.WarmUp == op.Warmup && (g.run == "" || g.run == runOfPart(op))
		}
	}
	return false
}

func runOfPart(op *results.Operation) string {
	if c := op.ByClient[0]; c.Run == "" {
		return "client " + c.Name
	}
	return op.ByClient[0].Run
}
