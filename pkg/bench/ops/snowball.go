package ops

import (
	"context"
	"fmt"
	"path"

	"warp/pkg/bench"

	"warp/pkg/bench/archive"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// Snowball uploads TARs that the store unpacks into objects.
type Snowball struct {
	Sizes    generator.Sizes
	PerTar   int
	Compress bool // compress TARs of objects with the same content, which makes them small

	packers []*archive.Packer // by worker
}

// maxSnowball limits the TARs of all workers together, which are made in memory.
// maxSnowballCompressed limits the size of an object with --compress, since a store's
// decoder looks no further back for duplicates.
const (
	maxSnowball           = 1 << 30
	maxSnowballCompressed = 10 << 20
)

// Check checks the sizes.
func (s *Snowball) Check(concurrency int) error {
	total, factors := float64(s.Sizes.Max())*float64(concurrency), "--obj.size times --concurrent"
	if !s.Compress {
		total, factors = total*float64(s.PerTar), factors+" times --objs.per"
	}
	switch {
	case s.Compress && s.Sizes.Max() > maxSnowballCompressed:
		return fmt.Errorf("with --compress objects can have up to 10MiB, because decoders look no further back for duplicates: use a smaller --obj.size")
	case total > maxSnowball:
		return fmt.Errorf("%s is %.1f GiB, and the TARs, which are made in memory, may take 1 GiB: lower one of them", factors, total/(1<<30))
	}
	return nil
}

// Prepare makes sure that the store unpacks.
func (s *Snowball) Prepare(ctx context.Context, e *bench.Env) error {
	for range e.Concurrency {
		p, err := archive.NewPacker(s.Compress, s.Sizes.Max())
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
	send := func(w *bench.Worker) error {
		keys = s.names(w, 2)
		return s.send(ctx, w, w.NextKey(), keys, size)
	}
	return bench.Feature("unpacking of uploaded TARs (snowball, an extension of MinIO)").Try(ctx, e, send, func(h *store.Host) error {
		return e.CheckAndRemove(ctx, h, keys, size)
	})
}

// Do uploads one TAR.
func (s *Snowball) Do(ctx context.Context, w *bench.Worker) error {
	size := s.Sizes.Next(w.Rand)
	return w.Spend(s.PerTar, size, func(n int) error {
		return s.send(ctx, w, w.NextKey(), s.names(w, n), size)
	})
}

// names returns the names of the next n objects of w.
func (s *Snowball) names(w *bench.Worker, n int) []string {
	if s.Compress {
		return nextCopies(w, n)
	}
	return nextKeys(w, n)
}

// send makes a TAR and measures its upload. The row counts the objects that the
// store unpacks.
func (s *Snowball) send(ctx context.Context, w *bench.Worker, name string, keys []string, size int64) error {
	body, err := s.packers[w.ID].Pack(keys, size, w.Body)
	if err != nil {
		return fmt.Errorf("make a TAR: %w", err)
	}
	return w.Measure(ctx, "PUT", name, func(ctx context.Context, r *bench.Request) error {
		r.Objects, r.Bytes = len(keys), size*int64(len(keys))
		_, err := r.Put(ctx, store.Put{
			Ref: store.Ref{Bucket: w.Env.Bucket, Key: name}, Body: body, Size: body.Size(), Whole: true,
			ContentType: "application/x-tar",
			Headers:     []store.Header{{Name: "x-amz-meta-snowball-auto-extract", Value: "true"}},
		}, r.Trace)
		return err
	})
}
