package ops

import (
	"context"
	"fmt"

	"warp/pkg/bench"
	"warp/pkg/store"
)

// List lists all objects under each worker's prefix, page by page.
type List struct {
	Pool
	Metadata bool
	MaxKeys  int

	entries map[store.Ref]int // number of entries by bucket and prefix
}

// Prepare uploads the objects to be listed.
func (l *List) Prepare(ctx context.Context, e *bench.Env) error {
	if err := l.Pool.Prepare(ctx, e); err != nil {
		return err
	}
	// With --noprefix all workers share one prefix, and each lists everything.
	l.entries = make(map[store.Ref]int)
	for i := range l.Objects {
		thread := i % e.Concurrency
		l.entries[listKey(l.request(e.Workers[thread].Env, thread))] += max(l.Versions, 1)
	}
	if l.Metadata {
		return l.checkMetadata(ctx, e)
	}
	return nil
}

// checkMetadata checks that the store lists metadata. Stores that do not know the
// option ignore it.
func (l *List) checkMetadata(ctx context.Context, e *bench.Env) error {
	var listed, with int
	begin := func() { listed, with = 0, 0 }
	err := e.Client.List(ctx, l.request(e, 0), begin, func(o store.Object) bool {
		listed++
		if o.HasMetadata {
			with++
		}
		return listed < 10
	})
	if err != nil {
		return fmt.Errorf("prepare: list with --metadata: %w", err)
	}
	if with == 0 {
		return fmt.Errorf("prepare: the listing has no metadata: give the objects some with --add-metadata, or leave out --metadata, which not every store supports")
	}
	return nil
}

func (l *List) request(e *bench.Env, thread int) store.List {
	return store.List{
		Bucket: e.Bucket, Prefix: threadPrefix(e, thread),
		Versions: l.Versions > 1, Metadata: l.Metadata, MaxKeys: l.MaxKeys,
	}
}

// Do lists once.
func (l *List) Do(ctx context.Context, w *bench.Worker) error {
	req := l.request(w.Env, w.ID)
	want := l.entries[listKey(req)]
	return w.Measure(ctx, "LIST", req.Prefix, func(ctx context.Context, r *bench.Request) error {
		r.Receives = true
		n := 0
		err := r.List(ctx, req, func(store.Object) bool { n++; return true }, r.Trace)
		r.Objects = n
		if err == nil && n != want {
			return store.Errorf(store.CodeWrongList, int(r.Trace.Status()), "the listing has %d entries instead of %d", n, want)
		}
		return err
	})
}

// listKey identifies a listing by its bucket and prefix.
func listKey(l store.List) store.Ref { return store.Ref{Bucket: l.Bucket, Key: l.Prefix} }

func threadPrefix(e *bench.Env, thread int) string {
	return string(e.Names.AppendThreadPrefix(nil, uint32(thread)))
}
