package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warp/pkg/store"
)

// A Feature describes what an operation needs and many stores lack. Some of these
// stores refuse it; others answer 200 and do something else.
type Feature string

// NoEffect is the error of a request that succeeded without its effect.
type NoEffect string

func (n NoEffect) Error() string { return string(n) }

// Try sends one request of the operation, unrecorded and on the first worker, and
// then calls effect to check the result. If the store refuses the request or has
// not carried it out, the run ends here.
func (f Feature) Try(ctx context.Context, e *Env, send func(w *Worker) error, effect func(h *store.Host) error) error {
	w := e.Workers[0]
	defer func(was bool) { w.Silent = was }(w.Silent)
	w.Silent = true
	err := w.Retry(ctx, fmt.Sprintf("try %s", f), func() error { return send(w) })
	if err != nil {
		return f.verdict(err)
	}
	err = w.Retry(ctx, fmt.Sprintf("check the effect of %s", f), func() error {
		return e.Client.Use(effect)
	})
	return f.verdict(err)
}

// Probe is for features that take more than one request. do uses the feature on a
// separate object and checks the result itself.
func (f Feature) Probe(ctx context.Context, e *Env, do func(h *store.Host, ref store.Ref) error) error {
	err := e.Workers[0].Retry(ctx, fmt.Sprintf("try %s", f), func() error {
		return e.Client.Use(func(h *store.Host) error {
			// Each attempt has a new name, since the previous one may have got far.
			ref := store.Ref{Bucket: e.Bucket, Key: e.Workers[0].NextKey()}
			if err := do(h, ref); err != nil {
				return err
			}
			return h.Delete(ctx, []store.Ref{ref}, store.NewTrace(time.Now()))
		})
	})
	return f.verdict(err)
}

// verdict distinguishes stores without the feature from other failures.
func (f Feature) verdict(err error) error {
	var lacks NoEffect
	var refused *store.Error
	switch {
	case errors.As(err, &lacks):
		return f.pretended(string(lacks))
	case !errors.As(err, &refused) || refused.Status == 0 || store.Repeatable(refused):
		return err
	case refused.Status < 300:
		return f.pretended(refused.Message)
	}
	// Not wrapped: the hints of the command line about codes such as AccessDenied
	// would mislead here.
	return fmt.Errorf("prepare: this store refuses %s: %v", f, refused)
}

func (f Feature) pretended(what string) error {
	return fmt.Errorf("prepare: this store does not support %s: it answered with success, but %s", f, what)
}

// CheckAndRemove checks that each key has an object of the given size. It then
// removes these objects, which were written to try the store.
func (e *Env) CheckAndRemove(ctx context.Context, h *store.Host, keys []string, size int64) error {
	var refs []store.Ref
	for _, k := range keys {
		o, err := h.Stat(ctx, store.Ref{Bucket: e.Bucket, Key: k}, store.NewTrace(time.Now()))
		switch {
		case store.CodeOf(err) == store.CodeNoKey:
			return NoEffect("there is no " + k)
		case err != nil:
			return err
		case o.Size != size:
			return NoEffect(fmt.Sprintf("%s has %d bytes instead of %d", k, o.Size, size))
		}
		refs = append(refs, o.Ref)
	}
	return h.Delete(ctx, refs, store.NewTrace(time.Now()))
}
