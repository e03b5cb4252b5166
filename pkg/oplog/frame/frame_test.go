package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func layout() Layout {
	return Layout{Pieces: MaxPieces, Key: 7}
}

// A log is an encoder and the text that was given to it.
type log struct {
	t         testing.TB
	enc       *Encoder
	out, text bytes.Buffer
}

func newLog(t testing.TB) *log {
	l := &log{t: t}
	l.enc = NewEncoder(&l.out, layout())
	return l
}

func (l *log) row(columns []string) {
	line := strings.Join(columns, "\t") + "\n"
	var starts Starts
	at := 0
	for c, s := range columns {
		if c < MaxPieces {
			starts[c] = uint16(max(at-1, 0))
		}
		at += len(s) + 1
	}
	l.text.WriteString(line)
	row, err := l.enc.Space()
	if err == nil {
		err = l.enc.Row(append(row, line...), &starts, uint8(len(columns[2])), uint32(len(columns[1])))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *log) plain(s []byte) {
	l.text.Write(s)
	if err := l.enc.Text(s); err != nil {
		l.t.Fatal(err)
	}
}

func (l *log) flush() {
	if err := l.enc.Flush(); err != nil {
		l.t.Fatal(err)
	}
}

// check ends the frame and compares what decoders make of all.
func (l *log) check() {
	l.t.Helper()
	l.flush()
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		l.t.Fatal(err)
	}
	defer d.Close()
	got, err := d.DecodeAll(l.out.Bytes(), nil)
	if err != nil || !bytes.Equal(got, l.text.Bytes()) {
		l.t.Fatalf("%d bytes instead of %d: %v", len(got), l.text.Len(), err)
	}
}

// usual returns the columns of the n-th row of a run.
func usual(rng *rand.Rand, n int) []string {
	at := func(ns int) string {
		return fmt.Sprintf("2026-05-01T12:%02d:%02d.%09dZ", n/1e6%60, n/1e4%60, n%1e4*1e5+ns)
	}
	op, first, last := "GET", at(100+rng.IntN(9e4)), ""
	if rng.IntN(3) == 0 {
		op, first, last = "PUT", last, first
	}
	return []string{fmt.Sprint(n), fmt.Sprint(n / 700 % 12), op, "k3Xq", "1", "1024", "http://127.0.0.1:9000",
		fmt.Sprintf("p/%d/%d.rnd", rng.IntN(9), rng.Uint32()%3000), "", at(0), first, last, at(100000 + rng.IntN(1e5)),
		fmt.Sprint(100000 + rng.IntN(1e5)), "0", "", "200", "0", "1"}
}

func TestUsualRows(t *testing.T) {
	t.Parallel()
	l, rng := newLog(t), rand.New(rand.NewPCG(1, 1))
	l.plain([]byte("names\n"))
	for n := range 20_000 { // 4 MiB: the window moves several times
		l.row(usual(rng, n))
		if n%9000 == 5 {
			l.flush()
		}
	}
	l.check()
	if share := float64(l.out.Len()) / float64(l.text.Len()); share > 0.2 {
		t.Errorf("%.0f %% of the text remain", 100*share)
	}
}

func TestOddRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for name, field := range map[string]string{
		"empty": "", "one": "x", "quoted": "\"a\ttab and \"\"quotes\"\"\nand lines\"", "slashes": "////////", "long": strings.Repeat("key/", 400),
		"zeros": strings.Repeat("\x00", 100), "random": string(random), "huge": strings.Repeat("h", 30_000),
		"larger than a block": strings.Repeat("0123456789", 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, rng := newLog(t), rand.New(rand.NewPCG(3, 1))
			for n := range 300 {
				row := usual(rng, n)
				row[rng.IntN(len(row))] = field
				if n%3 == 0 {
					row[layout().Key] = field
				}
				l.row(row)
				if n%100 == 50 { // nothing but this in every column
					for c := range row {
						row[c] = field
					}
					l.row(row)
				}
			}
			l.check()
		})
	}
}

// Rows that end just before, at and behind the end of a block.
func TestBlockLimits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for _, limit := range []int{blockText / 4, blockText, 128 << 10, window, window + slide} {
		for d := -3; d <= 3; d++ {
			l := newLog(t)
			l.row(usual(rng, 1))
			row := usual(rng, 2)
			row[8] = strings.Repeat("e", limit-len(strings.Join(row, "\t"))-1+d)
			l.row(row)
			l.plain(bytes.Repeat([]byte("text"), (limit+d)/4))
			l.row(usual(rng, 3))
			l.check()
		}
	}
}

func TestIncompressible(t *testing.T) {
	t.Parallel()
	l, rng := newLog(t), rand.New(rand.NewPCG(5, 1))
	for range 40 {
		b := make([]byte, rng.IntN(40_000))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		l.plain(b)
		l.row(usual(rng, 7))
	}
	l.check()
	if more := l.out.Len() - l.text.Len(); more > 200 {
		t.Errorf("%d bytes more than the text", more)
	}
}

// Blocks are written as soon as there are enough of them, and can be read although the frame has no end.
func TestTornFrame(t *testing.T) {
	t.Parallel()
	l, rng := newLog(t), rand.New(rand.NewPCG(6, 1))
	for n := range 9000 {
		l.row(usual(rng, n))
	}
	d, err := zstd.NewReader(bytes.NewReader(l.out.Bytes()), zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := io.ReadAll(d)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(l.text.Bytes(), got) || len(got) == 0 || len(l.enc.out) >= gathered {
		t.Errorf("%d of %d bytes, %d are not written: %v", len(got), l.text.Len(), len(l.enc.out), err)
	}
}

// A failingDisk takes so many writes, then refuses one.
type failingDisk struct {
	writes []int // their sizes
	taken  int
}

var errDisk = errors.New("no space left")

func (d *failingDisk) Write(b []byte) (int, error) {
	d.writes = append(d.writes, len(b))
	if len(d.writes) == d.taken+1 {
		return 0, errDisk
	}
	return len(b), nil
}

// Whichever write fails, the call that made it says so: behind a hole nothing could be read. Only the last one of a frame is small.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	write := func(d *failingDisk) error {
		e, rng := NewEncoder(d, layout()), rand.New(rand.NewPCG(8, 1))
		for range 80 {
			b := make([]byte, 10_000)
			for i := range b {
				b[i] = "acgt"[rng.IntN(4)] // blocks of 32 KiB
			}
			if err := e.Text(b); err != nil {
				return err
			}
		}
		return e.Flush()
	}
	whole := &failingDisk{taken: 1000}
	if err := write(whole); err != nil || len(whole.writes) < 2 || slices.Min(whole.writes[:len(whole.writes)-1]) < gathered {
		t.Fatalf("writes of %d bytes: %v", whole.writes, err)
	}
	for n := range whole.writes {
		if d := (&failingDisk{taken: n}); !errors.Is(write(d), errDisk) || len(d.writes) != n+1 {
			t.Errorf("write %d of %d failed, %d were made", n+1, len(whole.writes), len(d.writes))
		}
	}
}

// What a decoder does not see, since the block is there as it was, does not count as seen in the blocks behind it.
func TestRawBlockBetween(t *testing.T) {
	t.Parallel()
	l, rng := newLog(t), rand.New(rand.NewPCG(10, 1))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('\n' + 1 + rng.IntN(240))
		}
		return b
	}
	for n := range 40 {
		for i := range 20 { // these are compressed
			l.row(usual(rng, 100*n+i))
		}
		l.plain(noise(blockText))
		row := usual(rng, n) // of which so little repeats that nothing is gained
		for i := range row {
			row[i] = string(noise(30))
		}
		row[layout().Key] = "again"
		l.row(row)
		l.plain(noise(blockText - 2000))
	}
	l.check()
}

// What repeats of keys is found again however many rows ago it was: a key, and all before its last slash.
func TestKeysRepeat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 1))
	var folders []string
	for range 50 {
		b := make([]byte, 100)
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		folders = append(folders, string(b))
	}
	for name, key := range map[string]func() string{
		"key":    func() string { return folders[rng.IntN(len(folders))] },
		"folder": func() string { return fmt.Sprintf("%s/%d", folders[rng.IntN(len(folders))], rng.Uint32()) },
	} {
		l := newLog(t)
		const rows = 2000
		for n := range rows {
			row := usual(rng, n)
			row[layout().Key] = key()
			l.row(row)
		}
		l.check()
		if n := l.out.Len() / rows; n > 45 {
			t.Errorf("%s: %d bytes per row", name, n)
		}
	}
}

func TestNothingWithoutText(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.flush()
	if l.out.Len() != 0 {
		t.Errorf("%d bytes", l.out.Len())
	}
}

// The reference implementation reads the frames as well.
func TestCommandLineTool(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("skipped: there is no zstd command here")
	}
	l, rng := newLog(t), rand.New(rand.NewPCG(7, 1))
	for n := range 5000 {
		l.row(usual(rng, n))
		if rng.IntN(900) == 0 {
			l.flush()
		}
	}
	l.check()
	cmd := exec.Command(tool, "-dc")
	cmd.Stdin = bytes.NewReader(l.out.Bytes())
	got, err := cmd.Output()
	if err != nil || !bytes.Equal(got, l.text.Bytes()) {
		t.Errorf("%d bytes instead of %d: %v", len(got), l.text.Len(), err)
	}
}
