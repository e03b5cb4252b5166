package s3

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// Regions finds the regions of buckets. All hosts of a client share it, so that thousands of
// workers that start at the same time send one request.
type Regions struct {
	ask        func(ctx context.Context, bucket string) (string, error)
	generation atomic.Uint32

	mu     sync.Mutex
	known  map[string]string
	asking map[string]*regionAnswer
}

// NewRegions returns Regions that calls ask once for each bucket.
func NewRegions(ask func(ctx context.Context, bucket string) (string, error)) *Regions {
	return &Regions{ask: ask}
}

// Generation changes whenever Regions learns something new.
func (r *Regions) Generation() uint32 { return r.generation.Load() }

// A regionAnswer is pending until done is closed.
type regionAnswer struct {
	done   chan struct{}
	region string
	err    error
}

// Of returns the region of a bucket. It waits until it is known, ctx ends, or bookkeeping gives up.
func (r *Regions) Of(ctx context.Context, bucket string) (string, error) {
	r.mu.Lock()
	if region, ok := r.known[bucket]; ok {
		r.mu.Unlock()
		return region, nil
	}
	a := r.asking[bucket]
	if a == nil {
		a = r.begin(ctx, bucket)
	}
	r.mu.Unlock()
	select {
	case <-a.done:
		return a.region, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// begin requests a region on behalf of all who wait for it, so it does not end with the context of
// the first.
func (r *Regions) begin(ctx context.Context, bucket string) *regionAnswer {
	if r.asking == nil {
		r.asking = make(map[string]*regionAnswer)
	}
	a := &regionAnswer{done: make(chan struct{})}
	r.asking[bucket] = a
	go func() {
		a.region, a.err = r.ask(context.WithoutCancel(ctx), bucket)
		a.region = cmp.Or(a.region, "us-east-1")
		if a.err == nil {
			r.Learn(bucket, a.region)
		}
		r.mu.Lock()
		delete(r.asking, bucket)
		r.mu.Unlock()
		close(a.done)
	}()
	return a
}

// Learn stores the region of a bucket that an answer contained.
func (r *Regions) Learn(bucket, region string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[string]string)
	}
	if r.known[bucket] != region {
		r.known[bucket] = region
		r.generation.Add(1)
	}
}
