package ops

import (
	"context"
	"errors"
	"sync"

	"warp/pkg/bench"
	"warp/pkg/store"
)

// A partedObject is an object made of parts, several at a time. The row of the
// whole covers the requests that begin and complete the upload. Each part has its
// own row, and only these rows count bytes.
type partedObject struct {
	whole, part string // operations of the rows
	key         string
	parts       int
	atOnce      int // max parts in flight
	// send uploads or copies part n, counted from 1.
	send func(ctx context.Context, lane *bench.Worker, r *bench.Request, u store.Upload, n int) (store.Part, error)
}

// inParts makes an object. If a part fails it aborts the upload; after an interrupt,
// the clean-up does.
func inParts(ctx context.Context, w *bench.Worker, p *partedObject) error {
	return w.Measure(ctx, p.whole, p.key, func(ctx context.Context, r *bench.Request) error {
		put := store.Put{Ref: store.Ref{Bucket: w.Env.Bucket, Key: p.key}, ContentType: "application/octet-stream"}
		u, err := r.StartUpload(ctx, put, r.Trace)
		if err != nil {
			return err
		}
		r.Once = true
		r.Trace.NoWireTime() // the parts are sent between its own requests
		next := r.Trace.Next()
		parts, err := sendParts(ctx, w, p, u)
		if err == nil {
			_, err = r.CompleteUpload(ctx, u, parts, next)
			r.Trace.Add(next)
			next = r.Trace.Next()
		}
		if err == nil || ctx.Err() != nil || store.CodeOf(err) == store.CodeNoUpload {
			return err
		}
		_ = r.AbortUpload(ctx, u, next) // clean-up tries again
		r.Trace.Add(next)
		var failed *store.Error
		if errors.As(err, &failed) {
			r.Trace.Answered(failed.Status)
		}
		return err
	})
}

// sendParts sends all parts; the first that fails ends it.
func sendParts(ctx context.Context, w *bench.Worker, p *partedObject, u store.Upload) ([]store.Part, error) {
	parts := make([]store.Part, p.parts)
	err := eachPart(w, 1, p.parts, p.atOnce, func(lane *bench.Worker, n int) (err error) {
		parts[n-1], err = sendPart(ctx, lane, p, u, n)
		return err
	})
	return parts, err
}

// eachPart transfers the parts from one number to another, in order and several at a time. The first error ends it.
func eachPart(w *bench.Worker, from, to, atOnce int, transfer func(lane *bench.Worker, n int) error) error {
	var mu sync.Mutex
	var first error
	next := from
	nextPart := func() int { // number of the next part; 0 = there is none
		mu.Lock()
		defer mu.Unlock()
		if first == nil && next <= to && w.GivingUp() {
			first = bench.ErrUnfinished
		}
		if first != nil || next > to {
			return 0
		}
		next++
		return next - 1
	}
	var wg sync.WaitGroup
	for _, lane := range w.Lanes(min(atOnce, to-from+1)) {
		wg.Go(func() {
			for n := nextPart(); n > 0; n = nextPart() {
				if err := transfer(lane, n); err != nil {
					mu.Lock()
					first = firstError(first, err, n)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}

func sendPart(ctx context.Context, w *bench.Worker, p *partedObject, u store.Upload, n int) (part store.Part, err error) {
	err = w.Measure(ctx, p.part, p.key, func(ctx context.Context, r *bench.Request) error {
		part, err = p.send(ctx, w, r, u, n)
		return err
	})
	return part, err
}

// firstError keeps the first error and adds the number of its part.
func firstError(first, err error, part int) error {
	var e *store.Error
	switch {
	case first != nil:
		return first
	case !errors.As(err, &e):
		return err
	}
	return store.Errorf(e.Code, e.Status, "part %d: %s", part, e.Message)
}
