package merge

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"warp/pkg/oplog"
)

// An input is one log that is being read.
type input struct {
	m      *merger
	at     int // index among the inputs
	r      *oplog.Reader
	header oplog.Header
	shift  clockShift
	known  map[clientID]uint32 // index of each inputClient
	body   []byte

	last   clientID // client of the previous row
	source uint32   // source of the previous row
}

const (
	// batchRows is the number of rows between two reports of progress.
	batchRows = 512
	// maxSources limits the cost of a log with invented client ids.
	maxSources = 1 << 14
	// maxComments limits how many foreign comments are kept.
	maxComments = 64
)

// An inputClient contains the rows of one input with the same client.
type inputClient struct {
	clientID
	input   int
	merged  bool          // the input's header assigns rows to runs and threads
	highest uint32        // highest thread number
	threads threadSet     // only used if nothing else identifies the rows
	ranges  []threadRange // the ranges of its threads
}

// add passes rows to the sorter.
func (in *input) add(records []oplog.Record) error {
	for i := range records {
		r := &records[i]
		if id := (clientID{r.Run, r.Client}); len(in.known) == 0 || id != in.last {
			source, err := in.sourceOf(id)
			if err != nil {
				return err
			}
			in.source, in.last = source, id
		}
		if err := in.shift.apply(r); err != nil {
			return err
		}
		in.m.sources[in.source].addThread(r.Thread)
		in.body = appendBody(in.body[:0], r)
		if err := in.m.sorter.Add(&row{At: r.Start, Source: in.source, Body: in.body}); err != nil {
			return err
		}
	}
	return nil
}

// sourceOf returns the index of the inputClient with that id.
func (in *input) sourceOf(id clientID) (uint32, error) {
	if i, ok := in.known[id]; ok {
		return i, nil
	}
	m := in.m
	if len(m.sources) >= maxSources {
		return 0, fmt.Errorf("the logs name more than %d clients, which no run has", maxSources)
	}
	i := uint32(len(m.sources))
	m.sources = append(m.sources, &inputClient{clientID: id, input: in.at, merged: len(in.header.Merged) > 0})
	in.known[id] = i
	return i, nil
}

// addThread records the threads that occur.
func (s *inputClient) addThread(thread uint32) {
	s.highest = max(s.highest, thread)
	if s.run == "" && !s.merged {
		s.threads.add(thread)
	}
}

// threadRange returns the range that contains a thread.
func (s *inputClient) threadRange(thread uint32) *threadRange {
	for i := range s.ranges {
		if r := &s.ranges[i]; thread >= r.from && thread-r.from < r.count {
			return r
		}
	}
	return &s.ranges[0] // there is always one, and a single one covers all threads
}

// A threadSet is a set of thread numbers.
type threadSet struct {
	words []uint64
	wide  bool // it contains others too
}

func (t *threadSet) add(thread uint32) {
	if thread > oplog.MaxThread {
		t.wide = true
		return
	}
	for int(thread/64) >= len(t.words) {
		t.words = append(t.words, 0)
	}
	t.words[thread/64] |= 1 << (thread % 64)
}

func (t *threadSet) each(f func(thread uint32) bool) bool {
	for i, w := range t.words {
		for ; w != 0; w &= w - 1 {
			if !f(uint32(64*i + bits.TrailingZeros64(w))) {
				return false
			}
		}
	}
	return !t.wide
}

// addHeader keeps the metadata before the first row.
func (in *input) addHeader() {
	m, h := in.m, in.header
	m.scripted = m.scripted || h.Scripted
	m.checks = combineChecks(m.checks, h.Checks)
	if len(h.Merged) == 0 {
		m.log(h.Run, h.Client).addHeader(withClockApplied(h))
		return
	}
	for _, o := range h.Merged {
		l := m.log(o.Run, o.Header.Client)
		l.addHeader(o.Header)
		l.clients = append(l.clients, o.Client)
		l.origins = append(l.origins, o)
	}
}

// addTrailer keeps the metadata after the last row.
func (in *input) addTrailer() {
	m, h, t := in.m, in.header, in.r.Trailer()
	m.stats.Warnings = append(m.stats.Warnings, in.r.Warnings()...)
	for _, mark := range in.r.Marks() {
		mark.At -= in.shift.ahead
		m.marks = append(m.marks, mark)
	}
	for _, c := range in.r.Comments() {
		if len(m.comments) < maxComments && !slices.Contains(m.comments, c) {
			m.comments = append(m.comments, c)
		}
	}
	switch {
	case len(h.Merged) == 0:
		t.MoveBack(h.ClockOffset)
		m.log(h.Run, h.Client).addTrailer(t)
	case len(h.Merged) == len(t.Merged): // or it was cut off
		for i, o := range h.Merged {
			if t := t.Merged[i]; t != nil {
				m.log(o.Run, o.Header.Client).addTrailer(*t)
			}
		}
	}
}

// withClockApplied returns the header of the log after its times have moved to the coordinator's
// clock.
func withClockApplied(h oplog.Header) oplog.Header {
	if h.ClockOffset != 0 {
		h.Start = h.Start.Add(-time.Duration(h.ClockOffset))
		h.ClockOffset, h.ClockApplied = 0, h.ClockOffset
	}
	return h
}
