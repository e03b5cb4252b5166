package oplog

import (
	"bytes"
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
	to := p.reserve(len(row.body))
	to.start, to.source, to.body = row.start, row.source, append(to.body, row.body...)
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

// Bodies of every length come out as they went in, and the last that did stays as it is while others come.
func TestPilesKeepBodies(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 3))
	var p piles
	var popped *sortRow
	body := func(start int64) []byte {
		return bytes.Repeat([]byte{byte(start)}, int(start*7919%(1<<(start%15))))
	}
	in, out := 0, 0
	for in < 20_000 || p.len() > 0 {
		if popped != nil && !bytes.Equal(popped.body, body(popped.start)) {
			t.Fatalf("row %d has become %d bytes %.10q", popped.start, len(popped.body), popped.body)
		}
		if in < 20_000 && (p.len() < 100 || p.len() < 700 && rng.IntN(2) == 0) {
			start := int64(in) - rng.Int64N(300)
			pushCopy(&p, &sortRow{start: max(start, 0), source: uint32(max(start, 0)), body: body(max(start, 0))}, 0)
			in++
			continue
		}
		popped, _ = p.pop()
		out++
		if int64(popped.source) != popped.start {
			t.Fatalf("row %d is of source %d", popped.start, popped.source)
		}
	}
	if out != in || p.bytes != 0 {
		t.Errorf("%d rows of %d, and %d bytes are left", out, in, p.bytes)
	}
}

// A body is written where it will wait if it is known how long it can be. Others are written into one buffer.
func TestPilesCopyLittle(t *testing.T) {
	t.Parallel()
	var p piles
	body, inPlace := make([]byte, 100), 0
	push := func(start int64, most int) {
		row := p.reserve(most)
		row.start, row.body = start, append(row.body, body...)
		at := &row.body[0]
		p.push(0)
		if c := p.all[0].last; at == &c.b[c.last+chunkedHead] {
			inPlace++
		}
	}
	const rows = 1000
	for i := range int64(rows) {
		push(i, len(body)+10)
	}
	if inPlace < rows*9/10 {
		t.Errorf("%d of %d bodies were written where they wait", inPlace, rows)
	}
	p.body = nil
	push(rows, 0)
	if next := p.reserve(0); cap(next.body) < len(body) {
		t.Error("the buffer of a body is not used again")
	}
}

// A body that is longer than was said is written elsewhere first.
func TestMostBody(t *testing.T) {
	t.Parallel()
	for _, due := range []int64{0, 1} {
		in := mergeInput{isText: true, hint: &textHint{}, text: rowText{due: due, text: make([]byte, 100)}}
		if n := len(in.appendBody(nil, nil)); n > in.mostBody() || n+8 < in.mostBody() {
			t.Errorf("a body of %d bytes instead of at most %d", n, in.mostBody())
		}
	}
}

// What waiting rows take does not become much more than they are, however many piles there are and for however long.
func TestPilesAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ piles, body, rounds int }{{3, 200, 3000}, {1000, 200, 60}, {1000, 1, 300}, {5, 5000, 60}, {300, 9000, 9}} {
		var p piles
		most, bytes := 0, 0
		for round := range c.rounds {
			for i := range c.piles {
				if p.len() > c.piles {
					p.pop()
				}
				pushCopy(&p, &sortRow{start: int64(round*c.piles - i), body: make([]byte, c.body)}, 0)
				bytes = max(bytes, p.bytes)
			}
			held := 0
			for i := range p.all {
				for x := p.all[i].first; x != nil; x = x.next {
					held += cap(x.b)
				}
			}
			if p.drop(); p.chunks.held != held {
				t.Fatalf("%+v: %d bytes are said to be held, %d are", c, p.chunks.held, held)
			}
			most = max(most, held)
		}
		if limit := 2*bytes + 2*smallestChunk*c.piles + mostGrown; len(p.all) != c.piles || most > limit {
			t.Errorf("%+v: %d bytes of bodies are in %d of chunks, of %d piles", c, bytes, most, len(p.all))
		}
		free := 0
		for p.len() > 0 {
			p.pop()
		}
		for size, chunks := range p.chunks.free {
			free += len(chunks) * smallestChunk << size
		}
		if (free == 0) != (c.body > largestChunk) || free > mostFree*2*largestChunk || cap(p.body) > largestChunk || p.pushed.body != nil {
			t.Errorf("%+v: %d bytes are kept for what comes next", c, free)
		}
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
	x, y := p.all[p.tails[k].pile].lastRow(nil), p.all[p.tails[k-1].pile].lastRow(nil)
	return x.compare(&y) < 0
}
