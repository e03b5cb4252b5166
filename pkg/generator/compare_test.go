package generator

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// shapes are all kinds of payload.
func shapes() []PayloadOptions {
	return append([]PayloadOptions{{Seed: 1, Tar: true}, {Seed: 1, File: []byte("a short file")},
		{Seed: 1, File: bytes.Repeat([]byte("warp"), 30_001)}}, payloadKinds...)
}

// pieces writes data to c in pieces of up to maxLen bytes.
func pieces(t *testing.T, r *rand.Rand, c *Comparer, data []byte, maxLen int) {
	t.Helper()
	for len(data) > 0 {
		n := min(1+r.IntN(maxLen), len(data))
		if written, err := c.Write(data[:n]); written != n || err != nil {
			t.Fatalf("took %d of %d bytes, %v", written, n, err)
		}
		data = data[n:]
	}
}

func content(p *Payload, id uint64, size int64) []byte {
	b := make([]byte, size)
	p.ObjectAt(id, size, 0, b)
	return b
}

// The comparer finds exactly the byte with a flipped bit, whatever the pieces. Borders of pieces,
// blocks and computed parts are tested more often than by chance.
func TestComparerFindsEveryFlip(t *testing.T) {
	t.Parallel()
	borders := []int{0, 1, 7, 8, tarBlock, stretch, chunkSize, compareSize, blockSize, 3 * compareSize, blockFrom, blockFrom + sliceSize, blockFrom + 2*sliceSize}
	for _, o := range shapes() {
		p := mustPayload(t, o)
		r := rand.New(rand.NewPCG(1, uint64(o.CompressiblePct)))
		c := p.NewComparer()
		const size = 100_001
		whole := content(p, 9, size)
		for i := range 2000 {
			from, to := r.IntN(size), size
			switch i % 3 {
			case 0:
				from = 0
			case 1:
				to = from + 1 + r.IntN(size-from)
			}
			data := bytes.Clone(whole[from:to])
			at := r.IntN(len(data))
			if i%2 == 0 {
				at = min(max(borders[r.IntN(len(borders))]-r.IntN(2)-from, 0), len(data)-1)
			}
			data[at] ^= 1 << r.IntN(8)
			if i%4 == 0 { // a second one after it is not the first
				data[len(data)-1] ^= 0x80 * byte(min(len(data)-1-at, 1))
			}
			c.Reset(9, size, int64(from))
			pieces(t, r, c, data, 1+r.IntN(40_000))
			want := Difference{Offset: int64(from + at), Got: data[at], Want: whole[from+at]}
			if d, ok := c.Difference(); !ok || d != want {
				t.Fatalf("%d to %d: found %v %+v, want %+v", from, to, ok, d, want)
			}
			c.Reset(9, size, int64(from))
			pieces(t, r, c, whole[from:to], 1+r.IntN(40_000))
			if d, ok := c.Difference(); ok {
				t.Fatalf("%d to %d: a difference %+v where there is none", from, to, d)
			}
		}
	}
}

// The caller notices a wrong length. For the comparer no byte is wrong.
func TestComparerBeyondTheEnd(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	data := append(content(p, 9, 1000), "and more"...)
	for _, n := range []int{0, 1, 999, 1000, 1001, 1008} {
		for _, maxLen := range []int{1, 3, 2000} {
			c := p.NewComparer()
			c.Reset(9, 1000, 0)
			pieces(t, rand.New(rand.NewPCG(1, 1)), c, data[:n], maxLen)
			if d, ok := c.Difference(); ok {
				t.Errorf("%d of 1000 bytes: %+v", n, d)
			}
		}
	}
}

func TestComparerTellsObjectsApart(t *testing.T) {
	t.Parallel()
	for _, o := range shapes() {
		if o.DedupPct == 100 || len(o.File) == 12 {
			continue // all objects are or may be the same
		}
		p := mustPayload(t, o)
		c := p.NewComparer()
		c.Reset(1, 5000, 0)
		c.Write(content(p, 2, 5000))
		if _, ok := c.Difference(); !ok {
			t.Errorf("%d%% %d%% tar %v: the content of another object passes", o.CompressiblePct, o.DedupPct, o.Tar)
		}
	}
}

func TestComparerDoesNotAllocate(t *testing.T) {
	for _, o := range shapes() {
		p := mustPayload(t, o)
		c, data := p.NewComparer(), content(p, 1, 40_000)
		if n := testing.AllocsPerRun(100, func() {
			c.Reset(1, 40_000, 0)
			_, _ = c.Write(data)
		}); n != 0 {
			t.Errorf("comparing allocates %v times", n)
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	for name, o := range map[string]PayloadOptions{"random": {}, "tar": {Tar: true}, "file": {File: make([]byte, 1<<20)}} {
		b.Run(name, func(b *testing.B) {
			p := mustPayload(b, o)
			c, data := p.NewComparer(), content(p, 1, 1<<20)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				c.Reset(1, int64(len(data)), 0)
				for from := 0; from < len(data); from += 128 << 10 {
					_, _ = c.Write(data[from : from+128<<10])
				}
			}
			if _, ok := c.Difference(); ok {
				b.Fatal("a difference")
			}
		})
	}
}
