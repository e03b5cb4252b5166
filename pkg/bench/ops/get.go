package ops

import (
	"context"
	"fmt"

	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// Get downloads objects, or ranges of them.
type Get struct {
	Pool
	Range     bool  // a random part of each object
	RangeSize int64 // with Range: of this length; 0 = random
	// The same part of each object: from ReadOffset on, up to ReadLength bytes
	// (0 = to the end).
	ReadOffset, ReadLength int64
	Split                  Split
}

// Prepare fills the pool.
func (g *Get) Prepare(ctx context.Context, e *bench.Env) error {
	if err := g.Pool.Prepare(ctx, e); err != nil {
		return err
	}
	var text generator.Arena
	for i := range g.count() {
		if o := g.get(i, &text); g.ReadOffset > 0 && g.ReadOffset >= o.Size {
			return fmt.Errorf("prepare: %s has %d bytes, so there is nothing at --read-offset=%d", o.Key, o.Size, g.ReadOffset)
		}
	}
	return nil
}

// Do downloads one object.
func (g *Get) Do(ctx context.Context, w *bench.Worker) error {
	obj, err := g.pick(w)
	if err != nil {
		return err
	}
	if g.Split.Size > 0 {
		return g.Split.download(ctx, w, obj)
	}
	get := store.Get{Ref: obj.Ref}
	if g.Range && obj.Size > 0 {
		get.Offset, get.Length = g.part(w, obj.Size)
	} else {
		readPart(&get, obj.Size, g.ReadOffset, g.ReadLength)
	}
	return w.Download(ctx, obj, get)
}

// readPart limits a download of an object of the given size to the part from offset on, up to length bytes (0 = to the end).
func readPart(get *store.Get, size, offset, length int64) {
	if offset == 0 && length == 0 || size == 0 {
		return
	}
	get.Offset, get.Length = offset, size-offset
	if length > 0 {
		get.Length = min(get.Length, length)
	}
}

// RequestsAtOnce returns the number of ranges that a worker downloads at a time.
func (g *Get) RequestsAtOnce() int {
	if g.Split.Size == 0 {
		return 1
	}
	return g.Split.AtOnce
}

// part chooses a range that lies within an object of the given size.
func (g *Get) part(w *bench.Worker, size int64) (offset, length int64) {
	if g.RangeSize > 0 {
		length = min(g.RangeSize, size)
		return w.Rand.Int64N(size - length + 1), length
	}
	offset = w.Rand.Int64N(size)
	return offset, 1 + w.Rand.Int64N(size-offset)
}
