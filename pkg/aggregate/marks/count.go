package marks

import (
	"math"
	"slices"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

// The time after a mark is counted in intervals.
const (
	fineInterval   = int64(100 * time.Millisecond)
	coarseInterval = int64(time.Second)
	fineRange      = int64(time.Hour) // after the mark; later intervals are coarse
	fineIntervals  = fineRange / fineInterval
	// maxIntervals covers a day after one mark. The last interval takes everything later.
	maxIntervals = fineIntervals + int64(23*time.Hour)/coarseInterval
)

// Requests that ended after a mark are also counted in bins by their start.
const (
	linearRange     = int64(10 * time.Second) // after the mark; bins are as long as a fine interval up to here
	binsPerDoubling = 10                      // bins in each doubling of the time after that
)

// Counts counts a run between its marks. Its memory grows with the time
// after the first mark: 56 bytes for each interval, in an open loop its response times as well, and at most 300 histograms
// for each period.
type Counts struct {
	from, to    int64 // of the window; without a window, from is the first start
	windowKnown bool  // the start of the window is known
	last        int64 // latest end of a request

	counted, due uint64 // requests, and how many of them had a time at which they were due
	queuedBefore uint64 // requests that were due before the first mark and sent after it
	known        oplog.Window
	periods      []*period
}

// A period is the time from one mark to the next. The first one starts with the
// window and needs only sums.
type period struct {
	from           int64
	bytes, objects uint64          // by share of time; objects in stats.ObjectUnit
	intervals      []interval      // empty in the first period
	starts         []*startBin     // the first period has one bin
	response       stats.Histogram // in the first period, of requests that were due and ended in it
}

// An interval counts the traffic of a short time.
type interval struct {
	bytes, objects uint64 // by share of time
	succeeded      uint64 // successful requests that ended here
	first, last    int64  // first and last of their ends

	response     *stats.Sparse // of successful requests that were due here; nil if there are none
	queued, sent uint32        // requests that were due here and sent later, and the other way round
}

// A startBin counts requests that ended in a period, by their start.
type startBin struct {
	latency stats.Histogram // of successful requests
	errors  uint64
}

// SetWindow sets the window, as far as it is known. Counting begins skip after
// its begin; earlier counts are dropped.
func (m *Counts) SetWindow(w oplog.Window, skip time.Duration, marks []oplog.Mark) {
	if m.periods == nil || w != m.known {
		m.setWindow(w, skip, marks)
	}
}

func (m *Counts) setWindow(w oplog.Window, skip time.Duration, marks []oplog.Mark) {
	m.known, m.to = w, math.MaxInt64
	if w.End != 0 {
		m.to = w.End
	}
	if begin := exact.AddInt(w.Begin, int64(max(skip, 0))); w.Begin != 0 && (!m.windowKnown || m.from != begin) {
		*m = Counts{from: begin, to: m.to, windowKnown: true, known: w}
		m.periods = []*period{{from: begin}}
	} else if len(m.periods) > 0 {
		return
	} else {
		m.from, m.last = math.MaxInt64, math.MinInt64
		m.periods = []*period{{from: math.MinInt64}}
	}
	for _, mark := range marks {
		m.Mark(mark.At)
	}
}

// Mark starts a new period. If a mark arrives late, requests that ended after it
// may already have been counted in the period before.
func (m *Counts) Mark(at int64) {
	if len(m.periods) == 0 || m.windowKnown && at < m.from || at >= m.to {
		return
	}
	k := len(m.periods)
	for k > 1 && m.periods[k-1].from > at {
		k--
	}
	m.periods = slices.Insert(m.periods, k, &period{from: at})
}

// Add counts a request.
func (m *Counts) Add(r *oplog.Record) {
	start, end := r.Span()
	place := oplog.InWindow
	if m.windowKnown {
		place = r.Place(m.from, m.to)
	}
	if place == oplog.InWindow || place == oplog.BeforeWindow && end > m.from {
		m.add(r, start, end, place == oplog.InWindow)
	}
}

// add counts a request; inside reports whether it belongs to the window.
func (m *Counts) add(r *oplog.Record, start, end int64, inside bool) {
	if m.counted++; !m.windowKnown {
		m.from, m.last = min(m.from, start), max(m.last, end)
	}
	k := m.periodIndex(min(end, m.to))
	if r.Due != 0 {
		m.due++
		m.addDue(r, k, start, end)
	}
	if inside {
		bin := m.periods[k].bin(start, k > 0)
		if r.Err == "" {
			bin.latency.Add(r.Duration)
		} else {
			bin.errors++
		}
	}
	if r.Err != "" {
		return
	}
	if k > 0 && end <= m.to {
		m.periods[k].intervalEndingAt(end).addSuccess(end)
	}
	a := stats.NewAmount(start, end, r.Bytes, int64(r.Objects))
	m.distribute(&a, k)
}

// addDue counts a request of an open loop by when it was due, and its wait until
// it was sent. It ended in period k.
func (m *Counts) addDue(r *oplog.Record, k int, start, end int64) {
	due, sent := m.periodIndex(exact.AddInt(r.Due, 1)), m.periodIndex(exact.AddInt(start, 1)) // a mark belongs to what follows
	var from, to *interval
	if due > 0 && r.Due < m.to {
		from = m.periods[due].intervalAt(m.periods[due].intervalIndex(r.Due))
	}
	if sent > 0 && start < m.to {
		to = m.periods[sent].intervalAt(m.periods[sent].intervalIndex(start))
		if from != nil { // the list may have grown
			from = m.periods[due].intervalAt(m.periods[due].intervalIndex(r.Due))
		}
	}
	switch response := time.Duration(exact.Distance(r.Due, end)); {
	case r.Err != "":
	case from != nil:
		if from.response == nil {
			from.response = new(stats.Sparse)
		}
		from.response.Add(response)
	case due == 0 && k == 0:
		m.periods[0].response.Add(response)
	}
	if from == to || start <= r.Due {
		return
	}
	switch {
	case from != nil:
		from.queued++
	case due == 0 && start >= m.firstMark():
		m.queuedBefore++
	}
	if to != nil {
		to.sent++
	}
}

// firstMark returns the time of the first mark.
func (m *Counts) firstMark() int64 {
	if len(m.periods) < 2 {
		return math.MaxInt64
	}
	return m.periods[1].from
}

// periodIndex returns the period that an end belongs to. A request that ended
// exactly at a mark belongs before it, as the mark cannot have affected it.
func (m *Counts) periodIndex(end int64) int {
	k := len(m.periods) - 1
	for k > 0 && m.periods[k].from >= end {
		k--
	}
	return k
}

// distribute spreads an amount over the periods in which it was moved, in whole
// numbers that add up exactly. k is the period in which the request ended.
func (m *Counts) distribute(a *stats.Amount, k int) {
	from, to := a.Start, min(a.End, m.to)
	if m.windowKnown {
		from = max(from, m.from)
	}
	if a.Start == a.End {
		if from == to { // otherwise it is outside the window
			s := m.periods[k]
			s.add(a.Bytes, a.Objects)
			if k > 0 {
				s.intervalEndingAt(a.End).add(a.Bytes, a.Objects)
			}
		}
		return
	}
	for ; k >= 0 && to > from; k-- {
		s := m.periods[k]
		low := max(from, s.from)
		if to <= low {
			continue
		}
		if s.addBetween(a, low, to); k > 0 {
			s.addToIntervals(a, low, to)
		}
		to = low
	}
}

// addBetween adds the data moved between two instants to the sums.
func (s *period) addBetween(a *stats.Amount, from, to int64) {
	b, o := a.Until(from)
	bytes, objects := a.Until(to)
	s.add(bytes-b, objects-o)
}

// addToIntervals adds the data moved between two instants to the intervals.
func (s *period) addToIntervals(a *stats.Amount, from, to int64) {
	b, o := a.Until(from)
	for i := s.intervalIndex(from); from < to; i++ {
		if from = to; i < maxIntervals-1 {
			from = min(to, s.intervalBoundary(i+1))
		}
		bytes, objects := a.Until(from)
		s.intervalAt(i).add(bytes-b, objects-o)
		b, o = bytes, objects
	}
}

func (s *period) add(bytes, objects uint64) {
	s.bytes, s.objects = exact.AddUint(s.bytes, bytes), exact.AddUint(s.objects, objects)
}

// intervalIndex returns the index of the interval that contains an instant after
// the mark. An interval includes its begin.
func (s *period) intervalIndex(at int64) int64 {
	since := exact.Distance(s.from, at)
	if since < fineRange {
		return since / fineInterval
	}
	return min(fineIntervals+(since-fineRange)/coarseInterval, maxIntervals-1)
}

// intervalBoundary returns the start of an interval.
func (s *period) intervalBoundary(i int64) int64 {
	return exact.AddInt(s.from, min(i, fineIntervals)*fineInterval+max(i-fineIntervals, 0)*coarseInterval)
}

// intervalEndingAt returns the interval that counts a request with this end. An
// end exactly on a boundary belongs to the interval before.
func (s *period) intervalEndingAt(end int64) *interval { return s.intervalAt(s.intervalIndex(end - 1)) }

func (s *period) intervalAt(i int64) *interval {
	for int64(len(s.intervals)) <= i {
		s.intervals = append(s.intervals, interval{})
	}
	return &s.intervals[i]
}

func (p *interval) add(bytes, objects uint64) {
	p.bytes, p.objects = exact.AddUint(p.bytes, bytes), exact.AddUint(p.objects, objects)
}

func (p *interval) addSuccess(end int64) {
	if p.succeeded == 0 {
		p.first, p.last = end, end
	}
	p.succeeded++
	p.first, p.last = min(p.first, end), max(p.last, end)
}

// bin returns the bin for requests with this start. Without split there is only one.
func (s *period) bin(start int64, split bool) *startBin {
	i := 0
	if split {
		i = startBinIndex(exact.Distance(s.from, start))
	}
	for len(s.starts) <= i {
		s.starts = append(s.starts, nil)
	}
	if s.starts[i] == nil {
		s.starts[i] = new(startBin)
	}
	return s.starts[i]
}

// startBinIndex returns the bin for requests that started this long after a mark.
// Requests in flight at the mark count in the first bin.
func startBinIndex(since int64) int {
	if since < linearRange {
		return int(since / fineInterval)
	}
	doubling, length := 0, linearRange
	for since/2 >= length {
		doubling, length = doubling+1, 2*length
	}
	return int(linearRange/fineInterval) + binsPerDoubling*doubling + int((since-length)/(length/binsPerDoubling))
}

// startBinBoundary returns how long after the mark a bin begins.
func startBinBoundary(i int) int64 {
	fine := int(linearRange / fineInterval)
	if i < fine {
		return int64(i) * fineInterval
	}
	length := linearRange << ((i - fine) / binsPerDoubling)
	return length + int64((i-fine)%binsPerDoubling)*(length/binsPerDoubling)
}
