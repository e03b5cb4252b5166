package workload

import (
	"bytes"
	"context"
	"sync"

	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/store"
)

// create races for the object of a slot, with all workers of all clients. Some then read the object of the slot before.
func (x *worker) create(ctx context.Context, slot uint64) {
	last := x.slot
	x.slot = slot
	q := request{property: consistency.Create, key: x.load.key(0, consistency.Create, 0, slot), condition: consistency.IfAbsent, sent: x.token(1)}
	x.put(ctx, q, smallBlocks, store.Condition{Absent: true})
	if last > 0 && (uint64(x.ID)+slot)%4 == 0 || len(x.load.workers) < 4 && last > 0 {
		x.get(ctx, request{property: consistency.Create, key: x.load.key(0, consistency.Create, 0, last)})
	}
}

// register increases a counter.
func (x *worker) register(ctx context.Context) {
	q := request{property: consistency.Register, key: x.load.key(0, consistency.Register, 0, x.rand.Uint64N(registers))}
	read := x.get(ctx, q)
	value, ok := consistency.ParseToken(read.received)
	if !read.won() || !ok || read.version == "" {
		return
	}
	q.condition, q.sent = consistency.IfIs(read.received), x.token(value.Version+1)
	x.put(ctx, q, smallBlocks, store.Condition{Is: read.version})
}

// makeRegisters writes the counters, with value 0.
func (x *worker) makeRegisters(ctx context.Context) error {
	for n := range uint64(registers) {
		for range attempts {
			q := request{property: consistency.Register, key: x.load.key(0, consistency.Register, 0, n), sent: x.token(0)}
			if a := x.put(ctx, q, smallBlocks, store.Condition{}); a.won() || ctx.Err() != nil {
				break
			}
		}
	}
	return ctx.Err()
}

// deleteIf deletes a version that is replaced before or meanwhile.
func (x *worker) deleteIf(ctx context.Context) {
	x.own++
	q := request{property: consistency.DeleteIf, key: x.load.key(x.load.client, consistency.DeleteIf, x.ID, x.own), sent: x.token(1)}
	old := x.put(ctx, q, smallBlocks, store.Condition{})
	if !old.won() || old.version == "" {
		return
	}
	is, condition := consistency.IfIs(q.sent), store.Condition{Is: old.version}
	replace, remove := q, q
	replace.sent, remove.sent = x.token(2), x.token(2)
	remove.condition = is
	if x.own%2 == 0 || x.load.off[consistency.Register] {
		if a := x.put(ctx, replace, smallBlocks, store.Condition{}); !a.won() {
			return
		}
		x.delete(ctx, remove, condition)
	} else {
		replace.condition = is
		x.together(
			func(lane *bench.Worker) { replace.sender = lane; x.put(ctx, replace, smallBlocks, condition) },
			func(lane *bench.Worker) { remove.sender = lane; x.delete(ctx, remove, condition) },
		)
	}
	q.sent = ""
	x.get(ctx, q)
}

// together calls each function with a lane of its own, at the same time.
func (x *worker) together(calls ...func(lane *bench.Worker)) {
	var all sync.WaitGroup
	lanes := x.Lanes(len(calls))
	for i, call := range calls {
		all.Go(func() { call(lanes[i]) })
	}
	all.Wait()
}

// A pendingUpload is an upload in parts that is to be completed at the start of the next slot.
type pendingUpload struct {
	store.Upload
	parts []store.Part
	slot  uint64
	sent  string
	ready bool
}

// complete races for the object of a slot by completing uploads in parts. Now and then it aborts one instead.
func (x *worker) complete(ctx context.Context) {
	u := &x.upload
	slot := currentSlot()
	switch {
	case !u.ready:
		if x.own++; x.own%8 == 0 {
			x.abort(ctx)
			return
		}
		x.prepareUpload(ctx, x.load.key(0, consistency.CompleteIf, 0, slot), slot)
	case slot > u.slot:
		u.ready = false
		q := request{property: consistency.CompleteIf, key: u.Key, sent: u.sent, condition: consistency.IfAbsent}
		x.completeUpload(ctx, q, u.Upload, u.parts)
		q.condition, q.sent = "", ""
		if (uint64(x.ID)+slot)%4 == 0 || len(x.load.workers) < 4 {
			x.get(ctx, q)
		}
	}
}

// prepareUpload starts an upload in one part, to be completed in the next slot.
func (x *worker) prepareUpload(ctx context.Context, key string, slot uint64) {
	u := pendingUpload{slot: slot, sent: x.token(1)}
	q := request{property: consistency.CompleteIf, key: key, sent: u.sent}
	upload, parts, a := x.uploadParts(ctx, q, store.Condition{Absent: true}, smallBlocks)
	u.Upload, u.parts, u.ready = upload, parts, a.won()
	x.upload = u
}

// abort aborts an upload whose only part was answered. Its parts must be gone then, so that it cannot be completed.
func (x *worker) abort(ctx context.Context) {
	q := request{property: consistency.CompleteIf, key: x.load.key(x.load.client, consistency.CompleteIf, 1+x.ID, x.own), sent: x.token(1)}
	upload, parts, a := x.uploadParts(ctx, q, store.Condition{}, smallBlocks)
	if !a.won() {
		return
	}
	q.op = consistency.Abort
	a = x.measure(ctx, q, func(ctx context.Context, r *bench.Request, _ *answer) error {
		return r.AbortUpload(ctx, upload, r.Trace)
	})
	if a.won() {
		q.condition = consistency.False(consistency.Aborted)
		x.completeUpload(ctx, q, upload, parts)
	}
}

// uploadParts starts an upload and sends its parts, each of so many blocks. The row of the first part has the start, too.
func (x *worker) uploadParts(ctx context.Context, q request, condition store.Condition, blocks ...int) (u store.Upload, parts []store.Part, a answer) {
	q.op = consistency.PutPart
	total, from := 0, 0
	for _, n := range blocks {
		total += n
	}
	for _, n := range blocks {
		body := consistency.AppendBlocks(nil, q.key, q.sent, from, from+n, total)
		from += n
		a = x.measure(ctx, q, func(ctx context.Context, r *bench.Request, _ *answer) (err error) {
			trace := r.Trace
			if len(parts) == 0 {
				if u, err = r.StartUpload(ctx, store.Put{Ref: x.ref(q.key), ContentType: contentType}, trace); err != nil {
					return err
				}
				u.If = condition
				trace = r.Trace.Next()
				defer r.Trace.Add(trace)
			}
			part, err := r.PutPart(ctx, store.PutPart{Upload: u, Number: len(parts) + 1, Body: bytes.NewReader(body), Size: int64(len(body))}, trace)
			r.Bytes = int64(len(body))
			parts = append(parts, part)
			return err
		})
		if a.outcome == consistency.Unsupported {
			x.load.noParts.Store(true)
		}
		if !a.won() {
			break
		}
	}
	return u, parts, a
}

// completeUpload completes an upload.
func (x *worker) completeUpload(ctx context.Context, q request, u store.Upload, parts []store.Part) answer {
	q.op = consistency.Complete
	return x.measure(ctx, q, func(ctx context.Context, r *bench.Request, a *answer) error {
		o, err := r.CompleteUpload(ctx, u, parts, r.Trace)
		a.version = o.Token()
		return err
	})
}
