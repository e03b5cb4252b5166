package merge

import (
	"cmp"
	"slices"
	"time"

	"warp/pkg/oplog"
)

// A rowWriter writes sorted rows. It holds equal ones back until it knows how
// often and where they are.
type rowWriter struct {
	m      *merger
	w      *oplog.Writer
	decode rowDecoder
	record [1]oplog.Record

	row    row                // the last one, of which the others are copies
	owner  rowOwner           // of all copies, unless there are counts
	copies int64              // of that owner
	counts map[rowOwner]int64 // copies by owner, where there are several
}

// A rowOwner says whose row it is and from which input it came.
type rowOwner struct {
	threads *threadRange
	input   int
}

func (x *rowWriter) add(r *row) error {
	if x.copies > 0 && r.compare(&x.row) != 0 {
		if err := x.flush(); err != nil {
			return err
		}
	}
	source := x.m.sources[r.source]
	owner := rowOwner{source.threadRange(r.thread()), source.input}
	switch {
	case x.copies == 0:
		x.row.keep(r)
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

// flush writes the row that was held back, as often as it really is there.
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

// write writes the row n times, for a thread of an owner.
func (x *rowWriter) write(thread uint32, of *threadRange, n int64) error {
	x.record[0].Thread = thread - of.from + of.client.offset
	x.m.stats.Rows += n
	for ; n > 0; n-- {
		if err := x.w.Write(x.record[:]); err != nil {
			return err
		}
	}
	return nil
}

// multiplicities works out how often each owner has the row. A thread cannot
// start the same request twice, so what two inputs have is one request; only
// requests too short for the clock may really be several.
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
