package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"warp/internal/check"
	"warp/pkg/generator"
)

// A TAR has the objects that it should, and compresses to little more than one of them.
func TestPacker(t *testing.T) {
	t.Parallel()
	payload, err := generator.NewPayload(generator.PayloadOptions{Seed: 1})
	check.OK(t, err)
	keys := []string{"a", strings.Repeat("long/", 60) + "b", "ü", "c"}
	for _, size := range []int64{0, 1, 1000, 100_000, 512 << 10, 10 << 20} {
		for _, compress := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d compress=%v", size, compress), func(t *testing.T) {
				t.Parallel()
				p, err := NewPacker(compress, size)
				check.OK(t, err)
				for range 2 { // the second time in memory that was used
					body, err := p.Pack(keys, size, payload.NewReader())
					check.OK(t, err)
					if limit := size + size/5 + 4000; compress && body.Size() > limit {
						t.Errorf("%d bytes after compression, want at most %d", body.Size(), limit)
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
		check.OK(t, err)
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
		check.OK(t, err)
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
