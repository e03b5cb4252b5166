package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warp/pkg/store"
)

// A feature is what an operation needs of a store and many stores lack, in
// words. Some of those say so; others answer 200 and do something else.
type feature string

// noEffect says what is missing after a request that a store has taken.
type noEffect string

func (n noEffect) Error() string { return string(n) }

// try makes one request of the operation, unrecorded and on the first worker,
// and then has effect look at what came of it. A store that refuses the
// request, or that only pretends, ends the run here.
func (f feature) try(ctx context.Context, e *Env, send func(w *Worker) error, effect func(h *store.Host) error) error {
	w := e.workers[0]
	defer func(was bool) { w.silent = was }(w.silent)
	w.silent = true
	err := w.must(ctx, fmt.Sprintf("try %s", f), func() error { return send(w) })
	if err != nil {
		return f.verdict(err)
	}
	err = w.must(ctx, fmt.Sprintf("look at the effect of %s", f), func() error {
		return e.Client.Use(effect)
	})
	return f.verdict(err)
}

// probe has the store do the feature on an object of its own, which takes more
// than one request, and do looks at the effect itself.
func (f feature) probe(ctx context.Context, e *Env, do func(h *store.Host, ref store.Ref) error) error {
	err := e.workers[0].must(ctx, fmt.Sprintf("try %s", f), func() error {
		return e.Client.Use(func(h *store.Host) error {
			// A name of its own for each attempt, since the one before may have got far.
			ref := store.Ref{Bucket: e.Bucket, Key: e.workers[0].NextKey()}
			if err := do(h, ref); err != nil {
				return err
			}
			return h.Delete(ctx, []store.Ref{ref}, store.NewTrace(time.Now()))
		})
	})
	return f.verdict(err)
}

// verdict tells what a store lacks from what is wrong otherwise.
func (f feature) verdict(err error) error {
	var lacks noEffect
	var refused *store.Error
	switch {
	case errors.As(err, &lacks):
		return f.pretended(string(lacks))
	case !errors.As(err, &refused) || refused.Status == 0 || store.Repeatable(refused):
		return err
	case refused.Status < 300:
		return f.pretended(refused.Message)
	}
	// Not wrapped: what the command line says about codes such as
	// AccessDenied would lead astray here.
	return fmt.Errorf("prepare: this store refuses %s: %v", f, refused)
}

func (f feature) pretended(what string) error {
	return fmt.Errorf("prepare: this store does not do %s: it said yes, but %s", f, what)
}

// checkAndRemove wants an object of the given size under each key, and removes them:
// they were written to try the store, and are no part of the run.
func (e *Env) checkAndRemove(ctx context.Context, h *store.Host, keys []string, size int64) error {
	var refs []store.Ref
	for _, k := range keys {
		o, err := h.Stat(ctx, store.Ref{Bucket: e.Bucket, Key: k}, store.NewTrace(time.Now()))
		switch {
		case store.CodeOf(err) == "NoSuchKey":
			return noEffect("there is no " + k)
		case err != nil:
			return err
		case o.Size != size:
			return noEffect(fmt.Sprintf("%s has %d bytes instead of %d", k, o.Size, size))
		}
		refs = append(refs, o.Ref)
	}
	return h.Delete(ctx, refs, store.NewTrace(time.Now()))
}
