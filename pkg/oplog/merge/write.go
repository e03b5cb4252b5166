package merge

import (
	"cmp"
	"slices"
	"time"

	"warp/pkg/oplog"
)

// A rowWriter writes sorted rows. It delays equal ones until it knows how many there are and in
// which inputs.
type rowWriter struct {
	m      *merger
	w      *oplog.Writer
	decode rowDecoder
	record [1]oplog.Record

	row    row                // the last row, of which the others are copies
	owner  rowOwner           // owner of all copies, unless there are counts
	copies int64              // number of that owner's copies
	counts map[rowOwner]int64 // copies by owner, if there are several
}

// A rowOwner is the client of a row, and the input it came from.
type rowOwner struct {
	threads *threadRange
	input   int
}

func (x *rowWriter) add(r *row) error {
	if x.copies > 0 && r.Compare(&x.row) != 0 {
		if err := x.flush(); err != nil {
			return err
		}
	}
	source := x.m.sources[r.Source]
	owner := rowOwner{source.threadRange(threadOf(r)), source.input}
	switch {
	case x.copies == 0:
		x.row.Keep(r)
		x.owner, x.copies = owner, 1
	case len(x.counts) == 0 && owner == x.owner:
		x.copies++
	default:
		if len(x.counts) == 0 {
			x.counts[x.owner] = x.copies
		}
		x.counts[owner]++
	}
	return nil
}

// flush writes the delayed row, as often as the request really occurred.
func (x *rowWriter) flush() error {
	n := x.copies
	if x.copies = 0; n == 0 {
		return nil
	}
	rec := &x.record[0]
	if err := x.decode.decode(&x.row, rec); err != nil {
		return err
	}
	thread := rec.Thread
	if len(x.counts) == 0 {
		return x.write(thread, x.owner.threads, n)
	}
	times, owners := x.multiplicities(rec.Duration)
	clear(x.counts)
	for _, o := range owners {
		if err := x.write(thread, o, times[o.numbering()]); err != nil {
			return err
		}
	}
	return nil
}

// write writes the row n times, with the number of the owner's thread in the result.
func (x *rowWriter) write(thread uint32, of *threadRange, n int64) error {
	x.record[0].Thread = thread - of.from + of.client.offset
	x.m.stats.Rows += n
	of.client.rows += n
	for ; n > 0; n-- {
		if err := x.w.Write(x.record[:]); err != nil {
			return err
		}
	}
	return nil
}

// multiplicities returns how often each owner has the row. A thread cannot start the same request
// twice, so a row in two inputs is one request. Only requests that are too short for the clock may
// really occur several times.
func (x *rowWriter) multiplicities(d time.Duration) (map[numbering]int64, []*threadRange) {
	times, sums := map[numbering]int64{}, map[numbering]int64{}
	var owners []*threadRange
	for o, n := range x.counts {
		k := o.threads.numbering()
		if _, ok := times[k]; !ok {
			owners = append(owners, o.threads)
		}
		sums[k] += n
		times[k] = max(times[k], n)
	}
	for k, sum := range sums {
		if d == 0 {
			times[k] = sum
		}
		x.m.stats.Repeated += sum - times[k]
	}
	slices.SortFunc(owners, func(a, b *threadRange) int {
		return cmp.Or(a.client.at-b.client.at, cmp.Compare(a.from, b.from))
	})
	return times, owners
}
