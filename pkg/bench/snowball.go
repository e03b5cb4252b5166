package bench

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"

	"github.com/klauspost/compress/zstd"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Snowball uploads TARs that the store unpacks into objects.
type Snowball struct {
	Sizes    generator.Sizes
	PerTar   int
	Compress bool // compress TARs of objects with the same content, which makes them small

	packers []*packer // by worker
}

// maxSnowball limits the TARs of all workers together, which are made in memory.
// maxSnowballCompressed limits the size of an object among others like it, since a
// store's decoder looks no further back.
const (
	maxSnowball           = 1 << 30
	maxSnowballCompressed = 10 << 20
)

// Check checks the sizes.
func (s *Snowball) Check(concurrency int) error {
	all, of := float64(s.Sizes.Max())*float64(concurrency), "--obj.size times --concurrent"
	if !s.Compress {
		all, of = all*float64(s.PerTar), of+" times --objs.per"
	}
	switch {
	case s.Compress && s.Sizes.Max() > maxSnowballCompressed:
		return fmt.Errorf("with --compress objects can have up to 10MiB, because no decoder looks further back for duplicates: use a smaller --obj.size")
	case all > maxSnowball:
		return fmt.Errorf("%s is %.1f GiB, and TARs are made in memory, of which they may take 1 GiB: use less of one of them", of, all/(1<<30))
	}
	return nil
}

// Prepare makes sure that the store unpacks.
func (s *Snowball) Prepare(ctx context.Context, e *Env) error {
	for range e.Concurrency {
		p, err := s.newPacker()
		if err != nil {
			return err
		}
		s.packers = append(s.packers, p)
	}
	// MinIO cleans the names of files, and then they are no longer the run's.
	if key := e.Names.Key(0, 0); path.Clean("/" + key)[1:] != key {
		return fmt.Errorf("prepare: files in a TAR cannot be called %s: leave out double slashes and dots of --prefix", key)
	}
	const size = 1000
	var keys []string
	send := func(w *Worker) error {
		keys = s.names(w, 2)
		return s.send(ctx, w, w.NextKey(), keys, size)
	}
	return feature("unpacking of uploaded TARs (snowball, an extension of MinIO)").try(ctx, e, send, func(h *store.Host) error {
		return e.checkAndRemove(ctx, h, keys, size)
	})
}

// Do uploads one TAR.
func (s *Snowball) Do(ctx context.Context, w *Worker) error {
	size := s.Sizes.Next(w.Rand)
	return w.Spend(s.PerTar, size, func(n int) error {
		return s.send(ctx, w, w.NextKey(), s.names(w, n), size)
	})
}

// names returns the names of the next n objects.
func (s *Snowball) names(w *Worker, n int) []string {
	if s.Compress {
		return w.nextCopies(n)
	}
	return w.nextKeys(n)
}

// send makes a TAR and measures its upload. The row counts the objects that the
// store unpacks.
func (s *Snowball) send(ctx context.Context, w *Worker, name string, keys []string, size int64) error {
	body, err := s.packers[w.ID].pack(keys, size, w.body)
	if err != nil {
		return fmt.Errorf("make a TAR: %w", err)
	}
	return w.Measure(ctx, "PUT", name, func(ctx context.Context, r *Request) error {
		r.Objects, r.Bytes = len(keys), size*int64(len(keys))
		_, err := r.Put(ctx, store.Put{
			Ref: store.Ref{Bucket: w.Env.Bucket, Key: name}, Body: body, Size: body.Size(), Whole: true,
			ContentType: "application/x-tar",
			Headers:     []store.Header{{Name: "x-amz-meta-snowball-auto-extract", Value: "true"}},
		}, r.Trace)
		return err
	})
}

// A packer makes one TAR after the other, in the same memory.
type packer struct {
	out     bytes.Buffer
	encoder *zstd.Encoder // nil without compression
}

func (s *Snowball) newPacker() (*packer, error) {
	p := &packer{}
	if !s.Compress {
		return p, nil
	}
	// The window has to reach back over a whole object and its header, and
	// MinIO's decoder takes no more than 16 MiB.
	window := 64 << 10
	for int64(window) < s.Sizes.Max()+(64<<10) {
		window *= 2
	}
	var err error
	p.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedDefault))
	return p, err
}

// maxSize returns about how much memory a TAR takes.
func (p *packer) maxSize(objects int, size int64) int {
	if p.encoder != nil {
		return int(size) + 64<<10
	}
	return objects*int(size+2*512) + 1024
}

// pack returns a TAR of objects with these names. It is valid until the next
// call.
func (p *packer) pack(keys []string, size int64, content *generator.Reader) (*bytes.Reader, error) {
	p.out.Reset()
	if size := p.maxSize(len(keys), size); p.out.Cap() < size {
		p.out = *bytes.NewBuffer(make([]byte, 0, size)) // at once: growing doubles
	}
	var w io.Writer = &p.out
	if p.encoder != nil {
		p.encoder.Reset(w)
		w = p.encoder
	}
	t := tar.NewWriter(w)
	for _, key := range keys {
		of := key
		if p.encoder != nil {
			of = keys[0] // the same content for all
		}
		// Without a time, the store uses the time of the upload.
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: key, Size: size, Mode: 0o644}); err != nil {
			return nil, err
		}
		content.Reset(generator.PayloadID(of), size)
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
