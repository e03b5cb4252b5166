package oplog

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPiles takes rows in and out in every kind of order.
func TestPiles(t *testing.T) {
	t.Parallel()
	const n = 2000
	rng := rand.New(rand.NewPCG(3, 3))
	for name, c := range map[string]struct {
		start    func(i int) int64
		maxPiles int
	}{
		"in order":            {func(i int) int64 { return int64(i) }, 1},
		"reversed":            {func(i int) int64 { return int64(n - i) }, n},
		"equal":               {func(int) int64 { return 7 }, 40},
		"random":              {func(int) int64 { return rng.Int64N(1 << 40) }, n / 10},
		"many alike":          {func(int) int64 { return rng.Int64N(5) }, n / 10},
		"in turns of a run":   {func(i int) int64 { return int64(i/640*1000 + i%20*50 + i/20%32) }, 33},
		"by end, not start":   {func(i int) int64 { return int64(i*10) - rng.Int64N(300) }, 31},
		"with a late stretch": {func(i int) int64 { return int64(i%500) * 3 }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			var p piles
			var want []sortRow
			most := 0
			for i := range n {
				row := sortRow{start: c.start(i), body: binary.BigEndian.AppendUint32(nil, uint32(rng.IntN(30)))}
				want = append(want, row)
				pushCopy(&p, &row, 0)
				most = max(most, len(p.tails))
				for k := 1; k < len(p.tails); k++ {
					if !p.tailsInOrder(k) {
						t.Fatal("the last rows are not in order")
					}
				}
			}
			if p.len() != n || p.bytes != 4*n || most > c.maxPiles {
				t.Errorf("%d rows, %d bytes, %d piles", p.len(), p.bytes, most)
			}
			slices.SortFunc(want, func(a, b sortRow) int { return a.compare(&b) })
			for i := range want {
				if row, _ := p.pop(); row.compare(&want[i]) != 0 {
					t.Fatalf("row %d is %+v, want %+v", i, row, want[i])
				}
			}
			if p.len()+p.bytes+len(p.heads)+len(p.tails) != 0 {
				t.Errorf("something is left: %d rows", p.len())
			}
		})
	}
}

func pushCopy(p *piles, row *sortRow, run uint32) {
	to := p.reserve()
	to.start, to.source, to.body = row.start, row.source, append(to.body[:0], row.body...)
	p.push(run)
}

// TestPilesInUse lets rows out while others come in, and later runs wait for
// earlier ones.
func TestPilesInUse(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 3))
	var p piles
	last, lastRun := sortRow{start: -1}, uint32(0)
	for range 50_000 {
		if p.len() < 300 && rng.IntN(40) > 0 || p.len() == 0 {
			row := sortRow{start: rng.Int64N(1000)}
			run := lastRun
			if row.compare(&last) < 0 {
				run++
			}
			pushCopy(&p, &row, run)
			continue
		}
		row, run := p.pop()
		if run < lastRun || run == lastRun && row.compare(&last) < 0 {
			t.Fatalf("row %d of run %d after %d of run %d", row.start, run, last.start, lastRun)
		}
		last, lastRun = sortRow{start: row.start}, run
	}
}

// Runs of many logs are collapsed by levels, so that a row is copied as often as there are levels.
func TestSorterLevels(t *testing.T) {
	t.Parallel()
	s := newSorter(t.TempDir())
	s.maxRows, s.mostRows, s.fanIn = 1, 1, 4
	const runs = 400
	for i := range runs {
		if err := s.add(&Record{Op: "GET", Start: int64(runs - i)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	if len(s.files) > s.fanIn || len(s.levels) != len(s.files) || slices.Max(s.levels) > 5 || !slices.IsSortedFunc(s.levels, func(a, b int) int { return b - a }) {
		t.Errorf("%d files of levels %v", len(s.files), s.levels)
	}
	want := int64(0)
	if err := s.each(t.Context(), func(row *sortRow, _ bool) error {
		if want++; row.start != want {
			t.Errorf("row %d instead of %d", row.start, want)
		}
		return nil
	}); err != nil || want != runs {
		t.Errorf("%d rows, %v", want, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// tailsInOrder says whether the last row of a pile is before that of the one before.
func (p *piles) tailsInOrder(k int) bool {
	x, y := p.all[p.tails[k].pile].last.lastRow(nil), p.all[p.tails[k-1].pile].last.lastRow(nil)
	return x.compare(&y) < 0
}
