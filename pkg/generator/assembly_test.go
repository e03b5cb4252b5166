package generator

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// An assembly reads like the bytes it consists of, from any offset.
func TestAssembly(t *testing.T) {
	t.Parallel()
	for _, o := range []PayloadOptions{{Seed: 1}, {Seed: 1, DedupPct: 50}, {Seed: 1, Tar: true}} {
		p := mustPayload(t, o)
		a := p.NewAssembly()
		var want bytes.Buffer
		r := rand.New(rand.NewPCG(1, 1))
		both := io.MultiWriter(a, &want)
		for i := range uint64(40) {
			for range r.IntN(3) {
				held := bytes.Repeat([]byte{byte(i)}, r.IntN(200))
				_, _ = both.Write(held)
			}
			size := int64(MinTarSize) * r.Int64N(20)
			a.WriteObject(i, size)
			content := p.NewReader()
			content.Reset(i, size)
			_, _ = content.WriteTo(&want)
		}
		if a.Size() != int64(want.Len()) {
			t.Fatalf("%+v: the size is %d, want %d", o, a.Size(), want.Len())
		}
		if err := iotest.TestReader(io.NewSectionReader(a, 0, a.Size()), want.Bytes()); err != nil {
			t.Errorf("%+v: ReadAt: %v", o, err)
		}
		if err := iotest.TestReader(a, want.Bytes()); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
		for range 200 {
			off := r.Int64N(a.Size())
			got := make([]byte, r.IntN(5000))
			n, err := a.ReadAt(got, off)
			if n < len(got) && err != io.EOF || !bytes.Equal(got[:n], want.Bytes()[off:][:n]) {
				t.Fatalf("%+v: %d bytes at %d differ: %v", o, n, off, err)
			}
		}
	}
}

func TestSuffixesAreOwnedAndPromiseNoContent(t *testing.T) {
	t.Parallel()
	for _, layout := range []Layout{{}, {NoPrefix: true}, {Random: true}, {Shards: 10}} {
		g := NewNames(RunPrefix(7), 7, layout)
		key := g.Key(3, 45)
		for _, suffix := range []string{"", ArchiveSuffix, CopySuffix} {
			if !g.Owns(key+suffix) || MadeBy(7, key+suffix) != (suffix == "") {
				t.Errorf("%+v: %s%s: owned %v, made %v", layout, key, suffix, g.Owns(key+suffix), MadeBy(7, key+suffix))
			}
		}
		for _, suffix := range []string{".tar", ".zip.zip", ".copy.copy", ".zip.copy", ".copy.zip", ".zip/", ".zip/a", "x"} {
			if g.Owns(key + suffix) {
				t.Errorf("%+v: %s%s is taken for the run's own", layout, key, suffix)
			}
		}
	}
}
