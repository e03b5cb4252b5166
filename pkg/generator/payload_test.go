package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/iotest"

	"warp/internal/check"

	"github.com/klauspost/compress/zstd"
)

func mustPayload(t testing.TB, o PayloadOptions) *Payload {
	t.Helper()
	p, err := NewPayload(o)
	check.OK(t, err)
	return p
}

func object(p *Payload, id uint64, size int) []byte {
	b := make([]byte, size)
	p.at(id, 0, b)
	return b
}

var payloadKinds = []PayloadOptions{
	{Seed: 1}, {Seed: 1, CompressiblePct: 30}, {Seed: 1, CompressiblePct: 100}, {Seed: 1, DedupPct: 40},
	{Seed: 1, DedupPct: 100}, {Seed: 1, CompressiblePct: 55, DedupPct: 55},
}

func TestPayloadOptionsErrors(t *testing.T) {
	t.Parallel()
	for _, o := range []PayloadOptions{{CompressiblePct: -1}, {CompressiblePct: 101}, {DedupPct: -1}, {DedupPct: 101}} {
		if _, err := NewPayload(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// The content of a seed's objects must not change between versions, because existing data would
// fail verification.
func TestPayloadIsRepeatable(t *testing.T) {
	t.Parallel()
	want := []string{"f6f001653f4dcff9", "e7d94344079950f6", "f1e2bc29240cac71", "3d9742cf4ebe29c3", "1735cd3fef5080e6", "2ec62a83be716511"}
	for i, o := range payloadKinds {
		sum := sha256.Sum256(object(mustPayload(t, o), 42, 100_001))
		if got := hex.EncodeToString(sum[:8]); got != want[i] {
			t.Errorf("%+v: content is %s, want %s", o, got, want[i])
		}
	}
}

func TestPayloadAtAnyOffset(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, o := range payloadKinds {
		p := mustPayload(t, o)
		whole := object(p, 7, 300_000)
		piece := make([]byte, 70_000)
		for i := range 3000 {
			n := r.IntN(20)
			if i%10 == 0 {
				n = r.IntN(len(piece))
			}
			off := r.IntN(len(whole) - n)
			p.at(7, int64(off), piece[:n])
			if !bytes.Equal(piece[:n], whole[off:off+n]) {
				t.Fatalf("%+v: %d bytes at %d are different from those in the whole", o, n, off)
			}
		}
	}
}

func TestPayloadReader(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 3})
	r := p.NewReader()
	for _, size := range []int{0, 1, 7, 8, 9, 1000, 4096, 65536, 65537, 200_000} {
		want := object(p, 9, size)
		r.Reset(9, int64(size))
		if err := iotest.TestReader(r, want); err != nil {
			t.Errorf("size %d: %v", size, err)
		}
		r.Reset(9, int64(size))
		if _, err := r.Seek(int64(size/3), io.SeekStart); err != nil {
			t.Error(err)
		}
		var got bytes.Buffer
		if n, err := r.WriteTo(&got); err != nil || int(n) != got.Len() || !bytes.Equal(got.Bytes(), want[size/3:]) {
			t.Errorf("size %d: WriteTo wrote %d bytes, %v", size, n, err)
		}
		if r.Len() != 0 || r.Size() != int64(size) {
			t.Errorf("size %d: %d unread of %d", size, r.Len(), r.Size())
		}
	}
}

func TestPayloadReaderStopsOnError(t *testing.T) {
	t.Parallel()
	r := mustPayload(t, PayloadOptions{}).NewReader()
	r.Reset(1, 1<<20)
	client, server := net.Pipe()
	go func() {
		_, _ = io.CopyN(io.Discard, server, 100_000)
		server.Close()
	}()
	if n, err := r.WriteTo(client); err == nil || n != 100_000 || r.Len() != 1<<20-100_000 {
		t.Errorf("wrote %d bytes, error %v, %d unread", n, err, r.Len())
	}
}

// repeats returns the share of every 512th position whose 8 bytes also occur elsewhere.
func repeats(objects [][]byte) float64 {
	const every = 512
	seen := map[uint64]bool{}
	positions := 0
	for _, b := range objects {
		for off := 0; off < len(b); off += every {
			seen[word(b[off:])] = true
			positions++
		}
	}
	again := positions - len(seen)
	for _, b := range objects {
		for off := 0; off+8 <= len(b); off++ {
			if off%every != 0 && seen[word(b[off:])] {
				again++
			}
		}
	}
	return float64(again) / float64(positions)
}

// Computed content does not repeat between or within objects, at any offset. A few blocks may
// happen to use the same bytes of both tables; stamps keep them from being duplicate chunks.
// Content in memory does not repeat within an object.
func TestPayloadDoesNotRepeat(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	var small [][]byte
	for id := range uint64(200) {
		small = append(small, object(p, id, blockFrom))
	}
	large := [][]byte{object(p, 1, blockFrom+reach)}
	for name, objects := range map[string][][]byte{"200 of 64 KiB": small, "all of the block": large} {
		if share := repeats(objects); share > 0.001 {
			t.Errorf("%s: %.5f of the content repeats", name, share)
		}
	}
}

// No two stretches are equal, even if the bytes between their stamps are.
func TestPayloadStretchesAreUnique(t *testing.T) {
	t.Parallel()
	for _, o := range []PayloadOptions{{Seed: 1}, {Seed: 1, CompressiblePct: 100}} {
		p := mustPayload(t, o)
		seen := map[uint64]bool{}
		b := make([]byte, blockFrom)
		for id := range uint64(4000) {
			p.at(id, 0, b)
			for off := 0; off < len(b); off += stretch {
				if w := word(b[off:]); seen[w] {
					t.Fatalf("%+v: object %d repeats a stretch at %d", o, id, off)
				} else {
					seen[w] = true
				}
			}
		}
	}
}

// No 4 KiB occur twice, however a store divides objects into chunks of that size: here from the
// start, and one byte later with every object.
func TestPayloadChunksAreUnique(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	seed := maphash.MakeSeed()
	for _, shift := range []int{0, 1} {
		seen := map[uint64]bool{}
		b := make([]byte, 4<<20)
		for id := range 128 {
			p.at(uint64(id), 0, b)
			for off := id * shift; off+chunkSize <= len(b); off += chunkSize {
				h := maphash.Bytes(seed, b[off:off+chunkSize])
				if seen[h] {
					t.Fatalf("object %d repeats a chunk at %d", id, off)
				}
				seen[h] = true
			}
		}
	}
}

// Pieces returns the content, whatever the number of pieces at a time.
func TestPieces(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	r := p.NewReader()
	for _, size := range []int{0, 1, blockFrom, blockFrom + 1, blockFrom + sliceSize, 1<<20 + 13, blockFrom + reach + 5000} {
		want := object(p, 5, size)
		r.Reset(5, int64(size))
		if from := r.InMemoryFrom(); from != int64(min(size, blockFrom)) {
			t.Errorf("%d bytes: in memory from offset %d", size, from)
		}
		for _, room := range []int{1, 1000} {
			got := append([]byte(nil), want[:min(size, blockFrom)]...)
			dst := make([][]byte, room)
			for n := r.Pieces(int64(len(got)), dst); n > 0; n = r.Pieces(int64(len(got)), dst) {
				for _, piece := range dst[:n] {
					got = append(got, piece...)
				}
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %d in pieces are not the content", size, len(got))
			}
		}
	}
	for _, o := range slices.Concat(payloadKinds[1:], shapes()[:3]) {
		r := mustPayload(t, o).NewReader()
		r.Reset(5, 1<<20)
		if from := r.InMemoryFrom(); from != 1<<20 {
			t.Errorf("%+v: in memory from offset %d, want nothing", o, from)
		}
	}
}

func word(b []byte) uint64 {
	var w uint64
	for i := range 8 {
		w |= uint64(b[i]) << (8 * i)
	}
	return w
}

// cdcUnique returns the share of bytes in content-defined chunks (12 KiB on average, 4 to 64 KiB)
// that occur once.
func cdcUnique(objects [][]byte) float64 {
	var gear [256]uint64
	r := rand.New(rand.NewPCG(9, 9))
	for i := range gear {
		gear[i] = r.Uint64()
	}
	seen := map[[32]byte]bool{}
	var unique, total int
	for _, b := range objects {
		for len(b) > 0 {
			n, h := 0, uint64(0)
			for n < len(b) && n < 64<<10 {
				h = h<<1 + gear[b[n]]
				n++
				if n >= 4<<10 && h>>(64-13) == 0 {
					break
				}
			}
			sum := sha256.Sum256(b[:n])
			if !seen[sum] {
				unique += n
			}
			seen[sum] = true
			total += n
			b = b[n:]
		}
	}
	return float64(unique) / float64(total)
}

func TestPayloadDefeatsContentDefinedChunks(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	var objects [][]byte
	for id := range uint64(64) {
		objects = append(objects, object(p, id, 1<<20))
	}
	if got := cdcUnique(objects); got < 0.9999 {
		t.Errorf("%.4f of the bytes are in unique chunks, want all", got)
	}
}

// zstdRatio returns the compressed size as a share of the input.
func zstdRatio(t testing.TB, level zstd.EncoderLevel, window int, data ...[]byte) float64 {
	t.Helper()
	var n countWriter
	enc, err := zstd.NewWriter(&n, zstd.WithEncoderLevel(level), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	check.OK(t, err)
	total := 0
	for _, b := range data {
		total += len(b)
		if _, err := enc.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	check.OK(t, enc.Close())
	return float64(n) / float64(total)
}

type countWriter int

func (n *countWriter) Write(p []byte) (int, error) {
	*n += countWriter(len(p))
	return len(p), nil
}

// No object up to 8.8 MiB compresses with any compressor. Larger ones need a window of that size.
// Objects up to 64 KiB do not compress either if many are one stream.
func TestPayloadDoesNotCompress(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1})
	many := func(n, size int) (objects [][]byte) {
		for id := range n {
			objects = append(objects, object(p, uint64(id), size))
		}
		return objects
	}
	for name, c := range map[string]struct {
		window  int
		objects [][]byte
	}{
		"all of the block": {128 << 20, many(1, blockFrom+reach)},
		"one of 32 MiB":    {8 << 20, many(1, 32<<20)},
		"10000 of 1 KiB":   {128 << 20, many(10_000, 1<<10)},
		"300 of 64 KiB":    {128 << 20, many(300, 64<<10)},
	} {
		if got := zstdRatio(t, zstd.SpeedBetterCompression, c.window, c.objects...); got < 0.999 {
			t.Errorf("%s: compresses to %.4f", name, got)
		}
	}
}

func TestPayloadCompressible(t *testing.T) {
	t.Parallel()
	for _, pct := range []int{1, 10, 25, 50, 75, 90, 100} {
		p := mustPayload(t, PayloadOptions{Seed: 1, CompressiblePct: pct})
		for _, size := range []int{4 << 10, 100_000, 4 << 20} {
			got := zstdRatio(t, zstd.SpeedFastest, 1<<20, object(p, 1, size))
			if want := 1 - float64(pct)/100; math.Abs(got-want) > 0.02+64/float64(size) {
				t.Errorf("%d%% of %d bytes: compresses to %.3f, want %.3f", pct, size, got, want)
			}
		}
	}
}

// dupShare returns the share of 4 KiB chunks that have occurred before.
func dupShare(p *Payload, objects, size int) float64 {
	seen := map[[32]byte]bool{}
	dups, total := 0, 0
	b := make([]byte, size)
	for id := range objects {
		p.at(PayloadID(fmt.Sprint(id)), 0, b)
		for off := 0; off < size; off += chunkSize {
			sum := sha256.Sum256(b[off:min(off+chunkSize, size)])
			if seen[sum] {
				dups++
			}
			seen[sum] = true
			total++
		}
	}
	return float64(dups) / float64(total)
}

func TestPayloadDedup(t *testing.T) {
	t.Parallel()
	for _, pct := range []int{0, 1, 10, 50, 90, 100} {
		for _, compressible := range []int{0, 50} {
			p := mustPayload(t, PayloadOptions{Seed: 1, DedupPct: pct, CompressiblePct: compressible})
			for _, c := range []struct{ objects, size int }{{5000, 1 << 10}, {2000, 10 << 10}, {100, 1 << 20}} {
				want := float64(pct) / 100 * (1 - 1/float64(c.objects)) // the first occurrence of a chunk is not a duplicate
				if got := dupShare(p, c.objects, c.size); math.Abs(got-want) > 0.02 {
					t.Errorf("%d%% of %d objects of %d bytes: %.4f are duplicates, want %.4f",
						pct, c.objects, c.size, got, want)
				}
			}
			if got := dupShare(p, 1, 4<<20); got != 0 {
				t.Errorf("%d%%: %.3f of the chunks repeat within an object", pct, got)
			}
		}
	}
}

func TestPayloadDoesNotAllocate(t *testing.T) {
	p := mustPayload(t, PayloadOptions{Seed: 1})
	r := p.NewReader()
	buf := make([]byte, 32<<10)
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(1, 10<<10)
		_, _ = r.Read(buf)
	}); n != 0 {
		t.Errorf("reading an object allocates %v times", n)
	}
}

func BenchmarkPayloadAt(b *testing.B) {
	for _, o := range []PayloadOptions{{}, {CompressiblePct: 50}, {DedupPct: 50}} {
		p := mustPayload(b, o)
		for _, size := range []int{1 << 10, 32 << 10, 10 << 20} {
			b.Run(fmt.Sprintf("compressible=%d/dedup=%d/%s", o.CompressiblePct, o.DedupPct, FormatSize(int64(size))), func(b *testing.B) {
				buf := make([]byte, min(size, writeSize))
				b.SetBytes(int64(size))
				for id := uint64(0); b.Loop(); id++ {
					for off := 0; off < size; off += len(buf) {
						p.at(id, int64(off), buf)
					}
				}
			})
		}
	}
}

// BenchmarkSend compares generating with sending: the same 10 MiB over loopback, from one buffer
// that never leaves the cache, from a prepared block that does, and generated.
func BenchmarkSend(b *testing.B) {
	const size = 10 << 20
	p := mustPayload(b, PayloadOptions{Seed: 1})
	r := p.NewReader()
	block, pos := object(p, 1, 32<<20), 0
	write := func(w io.Writer, next func() []byte) {
		for sent := 0; sent < size; sent += writeSize {
			if _, err := w.Write(next()); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		send func(w io.Writer, id uint64)
	}{
		{"constant", func(w io.Writer, _ uint64) { write(w, func() []byte { return block[:writeSize] }) }},
		{"ready-made", func(w io.Writer, _ uint64) {
			write(w, func() []byte {
				pos = (pos + writeSize) % len(block)
				return block[pos:][:writeSize]
			})
		}},
		{"generated", func(w io.Writer, id uint64) {
			r.Reset(id, size)
			if _, err := r.WriteTo(w); err != nil {
				b.Fatal(err)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			conn := discardingConn(b)
			b.SetBytes(size)
			for id := uint64(0); b.Loop(); id++ {
				c.send(conn, id)
			}
		})
	}
}

// discardingConn returns a connection over loopback whose other side reads and discards.
func discardingConn(b *testing.B) net.Conn {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(b, err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	check.OK(b, err)
	b.Cleanup(func() { conn.Close() })
	server, err := l.Accept()
	check.OK(b, err)
	go func() {
		defer server.Close()
		_, _ = io.Copy(struct{ io.Writer }{io.Discard}, server)
	}()
	return conn
}
