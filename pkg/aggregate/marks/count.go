package marks

import (
	"math"
	"slices"
	"time"

	"warp/internal/exact"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

// The pieces in which the time after a mark is counted.
const (
	finePiece   = int64(100 * time.Millisecond)
	coarsePiece = int64(time.Second)
	fineTime    = int64(time.Hour) // after the mark; pieces are coarse from then on
	finePieces  = fineTime / finePiece
	// maxPieces covers a day after one mark. What comes later is in the last one.
	maxPieces = finePieces + int64(23*time.Hour)/coarsePiece
)

// The bins by their start in which requests are counted that ended after a mark.
const (
	fineStarts = int64(10 * time.Second) // after the mark they are as long as a fine piece
	binsPerTwo = 10                      // bins in each doubling of the time from then on
)

// Shares of objects are counted in fixed point. The unit leaves room for 17 billion
// objects times a thousand.
const (
	unit          = 1 << 20
	maxRowObjects = 1 << 40 // of one request
)

// Counts counts a run between its marks. Its memory grows with the time
// after the first mark: 40 bytes for each piece, and a histogram for each of at
// most 300 bins in the time from one mark to the next.
type Counts struct {
	from, to  int64 // of the window; from is the first start where there is no window yet
	begun     bool  // there is one
	counted   bool  // a request was
	last      int64 // end of a request
	known     oplog.Window
	stretches []*stretch
}

// A stretch is the time from one mark to the next. The first one is from the
// begin of the window, and needs sums only.
type stretch struct {
	from           int64
	bytes, objects uint64      // by share of time; objects in unit
	pieces         []piece     // of a stretch after a mark
	starts         []*startBin // of the first stretch there is one
}

// A piece counts what happened in a short time.
type piece struct {
	bytes, objects uint64 // by share of time
	succeeded      uint64 // requests that ended
	first, last    int64  // of their ends
}

// A startBin counts requests that ended in a stretch, by their start.
type startBin struct {
	latency stats.Histogram // of those that succeeded
	errors  uint64
}

// SetWindow takes what is known of the window, which begins later by skip. What was
// counted before it begins is dropped.
func (m *Counts) SetWindow(w oplog.Window, skip time.Duration, marks []oplog.Mark) {
	if m.stretches == nil || w != m.known {
		m.setWindow(w, skip, marks)
	}
}

func (m *Counts) setWindow(w oplog.Window, skip time.Duration, marks []oplog.Mark) {
	m.known, m.to = w, math.MaxInt64
	if w.End != 0 {
		m.to = w.End
	}
	if begin := exact.AddInt(w.Begin, int64(max(skip, 0))); w.Begin != 0 && (!m.begun || m.from != begin) {
		*m = Counts{from: begin, to: m.to, begun: true, known: w}
		m.stretches = []*stretch{{from: begin}}
	} else if len(m.stretches) > 0 {
		return
	} else {
		m.from, m.last = math.MaxInt64, math.MinInt64
		m.stretches = []*stretch{{from: math.MinInt64}}
	}
	for _, mark := range marks {
		m.Mark(mark.At)
	}
}

// Mark begins a stretch. One that comes late, after requests that ended later,
// has counted these before itself.
func (m *Counts) Mark(at int64) {
	if len(m.stretches) == 0 || m.begun && at < m.from || at >= m.to {
		return
	}
	k := len(m.stretches)
	for k > 1 && m.stretches[k-1].from > at {
		k--
	}
	m.stretches = slices.Insert(m.stretches, k, &stretch{from: at})
}

// Add counts a request. When is the time that decides whether it belongs to the window.
func (m *Counts) Add(r *oplog.Record, when int64) {
	start, end := r.Span()
	if !m.begun || when >= m.from && when <= m.to {
		m.add(r, start, end, true)
	} else if when < m.from && end > m.from {
		m.add(r, start, end, false)
	}
}

// add counts a request; inside says whether it belongs to the window.
func (m *Counts) add(r *oplog.Record, start, end int64, inside bool) {
	if m.counted = true; !m.begun {
		m.from, m.last = min(m.from, start), max(m.last, end)
	}
	k := m.at(min(end, m.to))
	if inside {
		bin := m.stretches[k].bin(start, k > 0)
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
		m.stretches[k].piece(end).succeed(end)
	}
	m.share(amount{start, end, uint64(max(r.Bytes, 0)), uint64(min(max(r.Objects, 0), maxRowObjects)) * unit}, k)
}

// at is the stretch that an end belongs to. A request that ended right at a mark
// was not affected by it.
func (m *Counts) at(end int64) int {
	k := len(m.stretches) - 1
	for k > 0 && m.stretches[k].from >= end {
		k--
	}
	return k
}

// An amount is what a request has moved.
type amount struct {
	start, end     int64
	bytes, objects uint64
}

// until is how much of it was moved by then.
func (a *amount) until(at int64) (bytes, objects uint64) {
	part, whole := exact.Distance(a.start, at), exact.Distance(a.start, a.end)
	return exact.Share(a.bytes, part, whole), exact.Share(a.objects, part, whole)
}

// share adds an amount to the times in which it was moved, in whole numbers that
// add up exactly. k is the stretch that the request ended in.
func (m *Counts) share(a amount, k int) {
	from, to := a.start, min(a.end, m.to)
	if m.begun {
		from = max(from, m.from)
	}
	if a.start == a.end {
		if from == to { // or it is outside
			s := m.stretches[k]
			s.add(a.bytes, a.objects)
			if k > 0 {
				s.piece(a.end).add(a.bytes, a.objects)
			}
		}
		return
	}
	for ; k >= 0 && to > from; k-- {
		s := m.stretches[k]
		low := max(from, s.from)
		if to <= low {
			continue
		}
		if s.share(&a, low, to); k > 0 {
			s.spread(&a, low, to)
		}
		to = low
	}
}

// share adds what was moved between two instants to the sums.
func (s *stretch) share(a *amount, from, to int64) {
	b, o := a.until(from)
	bytes, objects := a.until(to)
	s.add(bytes-b, objects-o)
}

// spread adds what was moved between two instants to the pieces.
func (s *stretch) spread(a *amount, from, to int64) {
	b, o := a.until(from)
	for i := s.number(from); from < to; i++ {
		if from = to; i < maxPieces-1 {
			from = min(to, s.border(i+1))
		}
		bytes, objects := a.until(from)
		s.pieceAt(i).add(bytes-b, objects-o)
		b, o = bytes, objects
	}
}

func (s *stretch) add(bytes, objects uint64) {
	s.bytes, s.objects = exact.AddUint(s.bytes, bytes), exact.AddUint(s.objects, objects)
}

// number is which piece begins at an instant after the mark, or has it inside.
func (s *stretch) number(at int64) int64 {
	since := exact.Distance(s.from, at)
	if since < fineTime {
		return since / finePiece
	}
	return min(finePieces+(since-fineTime)/coarsePiece, maxPieces-1)
}

// border is where a piece begins.
func (s *stretch) border(i int64) int64 {
	return exact.AddInt(s.from, min(i, finePieces)*finePiece+max(i-finePieces, 0)*coarsePiece)
}

// piece is the one that a request belongs to which ended then, after the mark.
func (s *stretch) piece(end int64) *piece { return s.pieceAt(s.number(end - 1)) }

func (s *stretch) pieceAt(i int64) *piece {
	for int64(len(s.pieces)) <= i {
		s.pieces = append(s.pieces, piece{})
	}
	return &s.pieces[i]
}

func (p *piece) add(bytes, objects uint64) {
	p.bytes, p.objects = exact.AddUint(p.bytes, bytes), exact.AddUint(p.objects, objects)
}

func (p *piece) succeed(end int64) {
	if p.succeeded == 0 {
		p.first, p.last = end, end
	}
	p.succeeded++
	p.first, p.last = min(p.first, end), max(p.last, end)
}

// bin is the one of requests that started then.
func (s *stretch) bin(start int64, split bool) *startBin {
	i := 0
	if split {
		i = startNumber(exact.Distance(s.from, start))
	}
	for len(s.starts) <= i {
		s.starts = append(s.starts, nil)
	}
	if s.starts[i] == nil {
		s.starts[i] = new(startBin)
	}
	return s.starts[i]
}

// startNumber is the bin of requests that started so long after a mark. Those
// that were on their way at the mark are in the first one.
func startNumber(since int64) int {
	if since < fineStarts {
		return int(since / finePiece)
	}
	doubling, length := 0, fineStarts
	for since/2 >= length {
		doubling, length = doubling+1, 2*length
	}
	return int(fineStarts/finePiece) + binsPerTwo*doubling + int((since-length)/(length/binsPerTwo))
}

// startBorder is how long after the mark the first requests of a bin started.
func startBorder(i int) int64 {
	fine := int(fineStarts / finePiece)
	if i < fine {
		return int64(i) * finePiece
	}
	length := fineStarts << ((i - fine) / binsPerTwo)
	return length + int64((i-fine)%binsPerTwo)*(length/binsPerTwo)
}
