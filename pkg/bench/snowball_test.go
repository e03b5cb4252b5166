package bench

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"warp/pkg/generator"
)

func sizesOf(t *testing.T, spec string) generator.Sizes {
	t.Helper()
	s, err := generator.ParseSizes(spec, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A TAR has the objects that it should, and compresses to little more than one of them.
func TestSnowballPacks(t *testing.T) {
	t.Parallel()
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"a", strings.Repeat("long/", 60) + "b", "ü", "c"}
	for _, size := range []int64{0, 1, 1000, 100_000, 512 << 10, 10 << 20} {
		for _, compress := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d compress=%v", size, compress), func(t *testing.T) {
				t.Parallel()
				s := Snowball{Sizes: sizesOf(t, fmt.Sprint(size)), Compress: compress}
				p, err := s.newPacker()
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time in memory that was used
					body, err := p.pack(keys, size, payload.NewReader())
					if err != nil {
						t.Fatal(err)
					}
					if most := size + size/5 + 4000; compress && body.Size() > most {
						t.Errorf("%d bytes after compression, want at most %d", body.Size(), most)
					}
					unpacks(t, body, compress, keys, size, payload)
				}
			})
		}
	}
}

func unpacks(t *testing.T, body io.Reader, compress bool, keys []string, size int64, payload *generator.Payload) {
	t.Helper()
	if compress {
		d, err := zstd.NewReader(body, zstd.WithDecoderMaxWindow(16<<20)) // as MinIO's
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		body = d
	}
	r := tar.NewReader(body)
	for i, key := range keys {
		h, err := r.Next()
		if err != nil || h.Name != key || h.Size != size {
			t.Fatalf("file %d is %+v, %v", i, h, err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, size)
		if compress {
			key = keys[0]
		}
		payload.ObjectAt(generator.PayloadID(key), size, 0, want)
		if !bytes.Equal(got, want) {
			t.Errorf("%s has another content", key)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("more files: %v", err)
	}
}

func TestSnowballMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		size      string
		per, conc int
		compress  bool
		says      string
	}{
		{"512KiB", 50, 20, false, ""},
		{"512KiB", 50, 40, false, ""},
		{"512KiB", 50, 41, false, "--obj.size times --concurrent times --objs.per is 1.0 GiB"},
		{"10MiB", 50, 20, false, "is 9.8 GiB"},
		{"10MiB", 50, 20, true, ""},
		{"10MiB", 50, 103, true, "--obj.size times --concurrent is 1.0 GiB"},
		{"11MiB", 50, 1, true, "up to 10MiB"},
		{"1:1,20MiB:1", 50, 2, false, "is 2.0 GiB"},
		{"1000", 1 << 40, 1 << 20, false, "GiB"},
	}
	for _, test := range tests {
		s := Snowball{Sizes: sizesOf(t, test.size), PerTar: test.per, Compress: test.compress}
		err := s.Check(test.conc)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
