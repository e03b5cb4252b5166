package wire

import (
	"encoding/binary"
	"math"
	"testing"
)

// Numbers are read as encoding/binary reads them. After an invalid number, nothing more is read.
func FuzzNumbers(f *testing.F) {
	for _, n := range []int64{0, 1, -1, 63, -64, 64, math.MaxInt64, math.MinInt64} {
		f.Add(binary.AppendVarint(nil, n))
		f.Add(binary.AppendUvarint(nil, uint64(n)))
	}
	f.Add([]byte{})
	f.Add([]byte{0x80})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})
	f.Fuzz(func(t *testing.T, b []byte) {
		signed, plain := NewReader(b), NewReader(b)
		want, size := binary.Varint(b)
		if size <= 0 {
			want = 0
		}
		if got := signed.Int(); got != want || signed.Bad != (size <= 0) || size > 0 && signed.Left() != len(b)-size {
			t.Errorf("% x: %d, %+v; want %d of %d bytes", b, got, signed, want, size)
		}
		unsigned, size := binary.Uvarint(b)
		if size <= 0 {
			unsigned = 0
		}
		if got := plain.Uint(); got != unsigned || plain.Bad != (size <= 0) {
			t.Errorf("% x: %d, %+v; want %d of %d bytes", b, got, plain, unsigned, size)
		}
		if plain.Bad && (plain.Uint() != 0 || plain.Int() != 0 || plain.Text(9) != "" || !plain.Bad) {
			t.Errorf("% x: more was read", b)
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	b := AppendText(nil, "héllo")
	for max, want := range map[int]string{5: "", 6: "héllo", 100: "héllo"} {
		r := NewReader(b)
		if got := r.Text(max); got != want || r.Bad != (want == "") {
			t.Errorf("at most %d: %q, %v", max, got, r.Bad)
		}
	}
	for _, n := range []int{-1, len(b) + 1} {
		if r := NewReader(b); r.Bytes(n) != nil || !r.Bad {
			t.Errorf("%d bytes of %d", n, len(b))
		}
	}
}
