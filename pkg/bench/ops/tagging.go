package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"warp/pkg/bench"
	"warp/pkg/store"
)

// Tagging puts, gets and deletes the tags of objects. No two workers share an
// object, so a worker knows which tags its objects must have.
type Tagging struct {
	Pool
	Tags             int     // per object
	Put, Get, Delete float64 // shares of the requests; only their ratio counts

	known []tagState // by object
	puts  []uint64   // number of puts by worker
	total float64
}

// A tagState says which tags an object must have.
type tagState struct {
	put     uint64 // number of the put that set the tags; 0 = there are none
	unknown bool   // a request failed, but may have had its effect
}

// Check checks the distribution.
func (g *Tagging) Check() error {
	switch {
	case g.Put < 0 || g.Get < 0 || g.Delete < 0:
		return errors.New("a share of a distribution cannot be negative")
	case g.Put+g.Get+g.Delete <= 0:
		return errors.New("all shares of the distribution are 0: nothing would be done")
	}
	return nil
}

// Prepare makes sure that the store has tags, and uploads the objects.
func (g *Tagging) Prepare(ctx context.Context, e *bench.Env) error {
	err := bench.Feature("object tags").Probe(ctx, e, func(h *store.Host, ref store.Ref) error { return g.tryTags(ctx, h, ref) })
	if err != nil {
		return err
	}
	g.total = g.Put + g.Get + g.Delete
	g.known = make([]tagState, g.Objects)
	g.puts = make([]uint64, e.Concurrency)
	return g.Pool.Prepare(ctx, e)
}

// tryTags puts, gets and deletes the tags of one object.
func (g *Tagging) tryTags(ctx context.Context, h *store.Host, ref store.Ref) error {
	body := bytes.NewReader([]byte("warp"))
	if _, err := h.Put(ctx, store.Put{Ref: ref, Body: body, Size: body.Size()}, store.NewTrace(time.Now())); err != nil {
		return err
	}
	tags := g.tags(0, 1)
	if err := h.PutTags(ctx, ref, tags, store.NewTrace(time.Now())); err != nil {
		return err
	}
	got, err := h.Tags(ctx, ref, store.NewTrace(time.Now()))
	if err == nil && !maps.Equal(got, tags) {
		err = bench.NoEffect(fmt.Sprintf("the tags are %v afterwards instead of %v", got, tags))
	}
	if err == nil {
		err = h.DeleteTags(ctx, ref, store.NewTrace(time.Now()))
	}
	if err != nil {
		return err
	}
	got, err = h.Tags(ctx, ref, store.NewTrace(time.Now()))
	if err == nil && len(got) > 0 {
		err = bench.NoEffect("deleted tags are still there")
	}
	return err
}

// Do sends one request about one of the worker's objects.
func (g *Tagging) Do(ctx context.Context, w *bench.Worker) error {
	i := ownIndex(w, g.count())
	x := w.Rand.Float64() * g.total
	switch {
	case x < g.Get:
		return g.get(ctx, w, i)
	case x < g.Get+g.Put:
		return g.put(ctx, w, i)
	}
	return g.remove(ctx, w, i)
}

// ownIndex chooses one of this worker's objects out of n that are spread over all
// workers.
func ownIndex(w *bench.Worker, n int) int {
	c := w.Env.Concurrency
	return w.ID + c*w.Rand.IntN((n-w.ID+c-1)/c)
}

func (g *Tagging) put(ctx context.Context, w *bench.Worker, i int) error {
	g.puts[w.ID]++
	put := g.puts[w.ID]
	tags, obj := g.tags(w.ID, put), g.at(i, w)
	err := w.Measure(ctx, "PUTTAGS", obj.Key, func(ctx context.Context, r *bench.Request) error {
		return r.PutTags(ctx, obj.Ref, tags, r.Trace)
	})
	g.known[i] = tagState{put: put, unknown: err != nil}
	return err
}

func (g *Tagging) get(ctx context.Context, w *bench.Worker, i int) error {
	obj := g.at(i, w)
	return w.Measure(ctx, "GETTAGS", obj.Key, func(ctx context.Context, r *bench.Request) error {
		r.Receives = true
		got, err := r.Tags(ctx, obj.Ref, r.Trace)
		if err != nil || g.known[i].unknown {
			return err
		}
		return checkTags(got, g.tags(w.ID, g.known[i].put), r.Trace)
	})
}

func (g *Tagging) remove(ctx context.Context, w *bench.Worker, i int) error {
	obj := g.at(i, w)
	err := w.Measure(ctx, "DELETETAGS", obj.Key, func(ctx context.Context, r *bench.Request) error {
		return r.DeleteTags(ctx, obj.Ref, r.Trace)
	})
	g.known[i] = tagState{unknown: err != nil}
	return err
}

// tags returns the tags of a worker's nth put, none for put 0. They are computed
// again rather than kept, since there may be many objects.
func (g *Tagging) tags(worker int, put uint64) map[string]string {
	if put == 0 {
		return nil
	}
	tags := make(map[string]string, g.Tags)
	for i := range g.Tags {
		tags[fmt.Sprintf("warp-%d", i)] = fmt.Sprintf("%d.%d.%d", worker, put, i)
	}
	return tags
}

func checkTags(got, want map[string]string, tr *store.Trace) error {
	if maps.Equal(got, want) {
		return nil
	}
	return store.Errorf(store.CodeWrongTags, int(tr.Status()), "the store answered the tags %v, put last were %v", got, want)
}
