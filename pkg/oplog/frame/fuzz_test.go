package frame

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzRows writes whatever rows and hints and compares what klauspost's decoder makes of it.
func FuzzRows(f *testing.F) {
	f.Add([]byte("1\t2\tGET\n"), uint64(1))
	f.Fuzz(func(t *testing.T, piece []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var out, text bytes.Buffer
		e := NewEncoder(&out, layout())
		for range rng.IntN(400) {
			var row []byte
			for c := range 19 {
				if c > 0 {
					row = append(row, '\t')
				}
				switch rng.IntN(9) {
				case 0:
					row = append(row, piece...)
				case 1:
					for range rng.IntN(1 << rng.IntN(14)) {
						row = append(row, byte(rng.Uint32()))
					}
				case 2, 3, 4, 5:
					row = append(row, "2026-11-21T12:43:03.8"...)
					row = append(row, byte('0'+rng.IntN(10)), byte('0'+rng.IntN(10)))
				}
			}
			row = append(row, '\n')
			var starts Starts
			at := 0
			for c := 1; c < MaxPieces; c++ {
				next := max(at+1, min(len(row)-19+c, at+rng.IntN(40)))
				if i := bytes.IndexByte(row[at+1:], '\t'); i >= 0 && rng.IntN(8) > 0 {
					next = min(at+1+i, len(row)-19+c)
				}
				at = next
				starts[c] = uint16(at)
			}
			if rng.IntN(50) == 0 {
				text.Write(row)
				if err := e.Text(row); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(60) == 0 {
				if err := e.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			text.Write(row)
			b, err := e.Space()
			if err == nil {
				err = e.Row(append(b, row...), &starts, uint8(rng.IntN(4)), rng.Uint32N(4))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		got, err := d.DecodeAll(out.Bytes(), nil)
		if err != nil || !bytes.Equal(got, text.Bytes()) {
			t.Fatalf("%d bytes instead of %d: %v", len(got), text.Len(), err)
		}
	})
}
