package generator

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// files reads an archive to its end.
func files(t *testing.T, archive []byte) (headers []*tar.Header) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return headers
		}
		if err != nil {
			t.Fatalf("file %d of an archive of %d bytes: %v", len(headers), len(archive), err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != h.Size {
			t.Fatalf("%s has %d of %d bytes, %v", h.Name, n, h.Size, err)
		}
		headers = append(headers, h)
	}
}

// Every object is an archive that archive/tar accepts, and is filled with files.
func TestTarIsValid(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1, Tar: true})
	r := rand.New(rand.NewPCG(1, 1))
	sizes := []int64{MinTarSize, MinTarSize + 1, MinTarSize + 511, 3000, 64 << 10, 64<<10 + 1, 128 << 10, 1 << 20, 10_000_000}
	for range 300 {
		sizes = append(sizes, MinTarSize+r.Int64N(400_000))
	}
	for i, size := range sizes {
		archive := content(p, uint64(i), size)
		headers := files(t, archive)
		names, sum := map[string]bool{}, int64(tarEnd)
		for _, h := range headers {
			names[h.Name] = true
			sum += tarBlock + (h.Size+tarBlock-1)/tarBlock*tarBlock
			if h.Typeflag != tar.TypeReg || h.Mode != 0o644 || h.Size < 1 {
				t.Errorf("a file is %+v", h)
			}
		}
		if want := size / tarBlock * tarBlock; sum != want {
			t.Errorf("%d bytes: the files and the end add up to %d, want %d", size, sum, want)
		}
		if want := max((size-tarEnd)/tarBlock/tarShare, 1); len(names) != len(headers) || int64(len(headers)) != want {
			t.Errorf("%d bytes: %d names of %d files, want %d", size, len(names), len(headers), want)
		}
		if end := archive[size/tarBlock*tarBlock-tarEnd:]; len(bytes.Trim(end, "\x00")) > 0 {
			t.Errorf("%d bytes: the end is not zero", size)
		}
	}
}

// An object without room for a file is an empty archive, or zeros if it is too small for one.
func TestTarWithoutRoom(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1, Tar: true})
	for _, size := range []int64{0, 1, tarEnd, MinTarSize - 1} {
		if b := content(p, 1, size); len(bytes.Trim(b, "\x00")) > 0 {
			t.Errorf("%d bytes are not zero", size)
		}
	}
}

func TestTarAtAnyOffset(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1, Tar: true})
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{MinTarSize, 5000, 70_000, 700_001} {
		whole := content(p, 7, int64(size))
		for range 3000 {
			from := r.IntN(size)
			n := r.IntN(min(size-from, 1+r.IntN(100_000)) + 1)
			piece := make([]byte, n)
			p.ObjectAt(7, int64(size), int64(from), piece)
			if !bytes.Equal(piece, whole[from:from+n]) {
				t.Fatalf("%d bytes at %d of %d differ from those in the whole", n, from, size)
			}
		}
	}
}

// The borders of an object of 40 TiB are in order too, and any of them can be computed.
func TestTarBordersOfLargeObjects(t *testing.T) {
	t.Parallel()
	p := mustPayload(t, PayloadOptions{Seed: 1, Tar: true})
	l := p.tarLayout(1, 40<<40)
	r := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		block := r.Int64N(l.blocks)
		i := l.fileOf(block)
		if i < 0 || i >= l.files || block < l.border(i) || block >= l.border(i+1) {
			t.Fatalf("block %d is taken for one of file %d of %d, %d to %d", block, i, l.files, l.border(i), l.border(i+1))
		}
		if l.border(i+1)-l.border(i) < 2 {
			t.Fatalf("file %d has no room", i)
		}
	}
}

func TestFileCycles(t *testing.T) {
	t.Parallel()
	file := []byte("0123456789")
	p := mustPayload(t, PayloadOptions{Seed: 1, File: file})
	begins := map[byte]bool{}
	for id := range uint64(200) {
		b := content(p, id, 35)
		begins[b[0]] = true
		for i := range b[1:] {
			if b[i+1] != '0'+(b[i]-'0'+1)%10 {
				t.Fatalf("object %d is %s", id, b)
			}
		}
		var piece [12]byte
		p.ObjectAt(id, 35, 17, piece[:])
		if string(piece[:]) != string(b[17:29]) {
			t.Fatalf("object %d has %s at 17, but is %s", id, piece, b)
		}
	}
	whole := p.file
	p.file = file // without repeating a small file in memory
	for id := range uint64(20) {
		short := content(p, id, 200_000)
		p.file = whole
		if long := content(p, id, 200_000); !bytes.Equal(short, long) {
			t.Fatal("how often a file is repeated in memory changes the content")
		}
		p.file = file
	}
	if len(begins) != len(file) {
		t.Errorf("objects begin at %d of %d places", len(begins), len(file))
	}
}

// Archives and files are as repeatable as random content.
func TestShapesAreRepeatable(t *testing.T) {
	t.Parallel()
	got := ""
	for _, o := range shapes()[:3] {
		b := content(mustPayload(t, o), 42, 5000)
		got += fmt.Sprintf("%x ", mix(hashString(string(b))))
	}
	if want := "ec2a26f97beeb1ec d21f455be70d2e44 6cd0bd2f249a354e "; got != want {
		t.Errorf("content has the hashes %s, want %s", got, want)
	}
}

func TestShapesExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, o := range []PayloadOptions{
		{File: []byte{}}, {File: []byte("a"), Tar: true}, {File: []byte("a"), DedupPct: 1}, {Tar: true, CompressiblePct: 1},
	} {
		if _, err := NewPayload(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
