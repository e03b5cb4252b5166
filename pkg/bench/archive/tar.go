// Package archive makes TARs and ZIPs of generated objects.
package archive

import (
	"archive/tar"
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"

	"warp/pkg/generator"
)

// A Packer makes one TAR after the other, in the same memory.
type Packer struct {
	out     bytes.Buffer
	encoder *zstd.Encoder // nil without compression
}

// NewPacker returns a packer. With compress, all objects of a TAR have the same
// content, so that it becomes small; maxSize is the largest size of an object.
func NewPacker(compress bool, maxSize int64) (*Packer, error) {
	p := &Packer{}
	if !compress {
		return p, nil
	}
	// The window has to reach back over a whole object and its header, and MinIO's
	// decoder accepts up to 16 MiB.
	window := 64 << 10
	for int64(window) < maxSize+(64<<10) {
		window *= 2
	}
	var err error
	p.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedDefault))
	return p, err
}

// memory returns about how much memory a TAR takes.
func (p *Packer) memory(objects int, size int64) int {
	if p.encoder != nil {
		return int(size) + 64<<10
	}
	return objects*int(size+2*512) + 1024
}

// Pack returns a TAR of objects with the given keys and size. It is valid until the
// next call.
func (p *Packer) Pack(keys []string, size int64, content *generator.Reader) (*bytes.Reader, error) {
	p.out.Reset()
	if n := p.memory(len(keys), size); p.out.Cap() < n {
		p.out = *bytes.NewBuffer(make([]byte, 0, n)) // at once: growing doubles
	}
	var w io.Writer = &p.out
	if p.encoder != nil {
		p.encoder.Reset(w)
		w = p.encoder
	}
	t := tar.NewWriter(w)
	for _, key := range keys {
		id := generator.PayloadID(key)
		if p.encoder != nil {
			id = generator.PayloadID(keys[0])
		}
		// Without a time, the store uses the time of the upload.
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: key, Size: size, Mode: 0o644}); err != nil {
			return nil, err
		}
		content.Reset(id, size)
		if _, err := content.WriteTo(t); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if p.encoder != nil {
		if err := p.encoder.Close(); err != nil {
			return nil, err
		}
	}
	return bytes.NewReader(p.out.Bytes()), nil
}
