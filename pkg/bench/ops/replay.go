package ops

import (
	"context"
	"errors"
	"slices"

	"warp/pkg/bench"
	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/replay"
	"warp/pkg/store"
)

// A Replay sends the requests of an op log again, on objects of its own. It needs the due times of its plan as
// bench.Options.Times.
type Replay struct {
	Plan *replay.Plan `json:"-"`

	names   *generator.Names
	bucket  string
	turns   *turns
	objects []entry // as they should be. Requests that write one have it for themselves, see turns
}

var _ bench.Multiplexer = (*Replay)(nil)

// RequestsAtOnce returns how many parts of an object are in flight.
func (p *Replay) RequestsAtOnce() int {
	if p.Plan.Counts[replay.Upload]+p.Plan.Counts[replay.Download] == 0 {
		return 1
	}
	return p.Plan.AtOnce
}

// Prepare uploads the objects that are read before they are written. Its uploads are recorded if no others are.
func (p *Replay) Prepare(ctx context.Context, e *bench.Env) error {
	if p.Plan.Counts[replay.Put] > 0 {
		e.SetSilent(true)
		defer e.SetSilent(false)
	}
	p.names, p.bucket = e.Names, e.Bucket
	p.objects, p.turns = make([]entry, len(p.Plan.Objects)), newTurns(len(p.Plan.Objects))
	for i := range p.objects { // names as in a run whose workers upload the objects in turn
		p.objects[i] = entry{thread: uint32(i % e.Concurrency), n: uint64(i / e.Concurrency), size: verify.AnyLength}
	}
	e.Progress.Begin("Preparing: uploading", p.Plan.Prepared)
	defer e.Progress.End()
	first := slices.IndexFunc(p.Plan.Objects, func(o replay.Object) bool { return o.Prepare })
	return e.Spread(ctx, len(p.objects), func(ctx context.Context, w *bench.Worker, i int) error {
		o := &p.Plan.Objects[i]
		if !o.Prepare {
			return nil
		}
		w.CountName()
		obj := p.object(w, uint32(i))
		uploaded, err := uploadRetried(ctx, w, obj.Key, o.Size)
		if err != nil {
			return err
		}
		p.uploaded(uint32(i), &uploaded, o.Size)
		e.Progress.Add(1)
		e.Progress.Moved(o.Size)
		if i == first {
			obj = p.object(w, uint32(i))
			return canVerify(ctx, w, &obj)
		}
		return nil
	})
}

// object returns an object as it should be. Its size is verify.AnyLength if it is not known.
func (p *Replay) object(w *bench.Worker, i uint32) store.Object {
	return p.objects[i].object(p.names, p.bucket, &w.Text)
}

// uploaded keeps what is known about an object that was uploaded.
func (p *Replay) uploaded(i uint32, obj *store.Object, size int64) {
	obj.Size = size
	p.objects[i] = newEntry(p.names, obj, "")
}

// forget is called when an object may have changed in an unknown way.
func (p *Replay) forget(i uint32) {
	e := &p.objects[i]
	*e = entry{thread: e.thread, n: e.n, size: verify.AnyLength}
}

// Do sends the request of the worker's arrival, after those that it must not overtake.
func (p *Replay) Do(ctx context.Context, w *bench.Worker) error {
	r, err := p.Plan.Request(w.Arrival)
	if err != nil {
		w.Abort(err)
		return err
	}
	if !p.turns.wait(ctx, &r) {
		return ctx.Err() // the run is over
	}
	defer p.turns.end(&r)
	switch obj := p.object(w, r.Object); r.Kind {
	case replay.Get:
		return p.get(ctx, w, &obj, r.Size)
	case replay.Stat:
		return stat(ctx, w, &obj)
	case replay.Put:
		w.CountName()
		got, err := w.Put(ctx, obj.Key, r.Size)
		return p.wrote(r.Object, &got, r.Size, err)
	case replay.Delete:
		err := w.Delete(ctx, []store.Ref{obj.Ref})
		p.forget(r.Object)
		return err
	case replay.Upload:
		w.CountName()
		whole := store.Object{Ref: obj.Ref} // its ETag is not known
		return p.wrote(r.Object, &whole, r.Size, p.upload(ctx, w, obj.Key, &r))
	default:
		return p.download(ctx, w, &obj, &r)
	}
}

// wrote keeps what an upload has changed.
func (p *Replay) wrote(i uint32, obj *store.Object, size int64, err error) error {
	var refused *store.Error
	switch {
	case err == nil:
		p.uploaded(i, obj, size)
	case errors.As(err, &refused) && refused.Status >= 300 && refused.Status < 500: // nothing has changed
	default:
		p.forget(i)
	}
	return err
}

// get downloads an object, or a part of it at a random place if the log has fewer bytes.
func (p *Replay) get(ctx context.Context, w *bench.Worker, obj *store.Object, bytes int64) error {
	get := store.Get{Ref: obj.Ref}
	want := obj.Size
	if bytes > 0 && bytes < obj.Size {
		get.Offset, get.Length, want = w.Rand.Int64N(obj.Size-bytes+1), bytes, bytes
	}
	return w.DownloadLength(ctx, obj, get, want)
}

// upload uploads an object in as many parts as the log has.
func (p *Replay) upload(ctx context.Context, w *bench.Worker, key string, q *replay.Request) error {
	return inParts(ctx, w, &partedObject{
		whole: "UPLOAD", part: "PUTPART", key: key,
		parts: max(q.Parts, 1), atOnce: p.Plan.AtOnce,
		send: func(ctx context.Context, lane *bench.Worker, r *bench.Request, u store.Upload, n int) (store.Part, error) {
			from := q.Part * int64(n-1)
			return putPart(ctx, lane, r, u, n, from, min(q.Part, q.Size-from))
		},
	})
}

// download downloads an object in ranges as large as the log's.
func (p *Replay) download(ctx context.Context, w *bench.Worker, obj *store.Object, q *replay.Request) error {
	if q.Part == 0 || obj.Size == verify.AnyLength {
		return p.get(ctx, w, obj, 0)
	}
	split := Split{Size: q.Part, AtOnce: p.Plan.AtOnce, Head: p.Plan.Head}
	return split.download(ctx, w, obj)
}
