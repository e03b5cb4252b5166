package workload

import (
	"context"

	"warp/pkg/consistency"
	"warp/pkg/store"
)

// attempts is how often a condition is tried that gets no certain answer, each time with another object.
const attempts = 8

// try sends the condition of a property where it is false, and where it is true. Nobody else uses the objects.
func (x *worker) try(ctx context.Context, property string) error {
	if !consistency.NeedsCondition(property) {
		return ctx.Err()
	}
	for range attempts {
		x.own++
		q := request{property: property, key: x.load.key(x.load.client, property, triesFolder, x.own)}
		outcome := x.tryOnce(ctx, q)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch outcome {
		case consistency.Lost:
			return nil
		case consistency.Won, consistency.Unsupported:
			x.load.off[property] = true
			return nil
		}
	}
	return nil // the load shows it
}

// tryOnce sends a false condition and returns its outcome. The condition is not false for certain if the writes before it
// had no certain outcome.
func (x *worker) tryOnce(ctx context.Context, q request) string {
	old, replaced := q, q
	old.sent = x.token(1)
	first := x.put(ctx, old, smallBlocks, store.Condition{})
	if !first.won() {
		return consistency.Unknown
	}
	switch q.property {
	case consistency.Create:
		q.condition, q.sent = consistency.False(consistency.IfAbsent), x.token(2)
		return x.put(ctx, q, smallBlocks, store.Condition{Absent: true}).outcome
	case consistency.CompleteIf:
		return x.tryComplete(ctx, q)
	}
	replaced.sent = x.token(2)
	second := x.put(ctx, replaced, smallBlocks, store.Condition{})
	if !second.won() || first.version == "" || second.version == "" || first.version == second.version {
		return consistency.Unknown
	}
	q.condition, q.sent = consistency.False(consistency.IfIs(old.sent)), x.token(3)
	if q.property == consistency.DeleteIf {
		return x.delete(ctx, q, store.Condition{Is: first.version}).outcome
	}
	outcome := x.put(ctx, q, smallBlocks, store.Condition{Is: first.version}).outcome
	if outcome == consistency.Lost { // alone, with the current version, it should succeed
		q.condition, q.sent = consistency.IfIs(replaced.sent), x.token(3)
		x.put(ctx, q, smallBlocks, store.Condition{Is: second.version})
	}
	return outcome
}

// tryComplete completes an upload in parts for an object that exists.
func (x *worker) tryComplete(ctx context.Context, q request) string {
	q.sent = x.token(2)
	q.condition = consistency.False(consistency.IfAbsent)
	upload, parts, a := x.uploadParts(ctx, q, store.Condition{Absent: true}, smallBlocks)
	if !a.won() {
		return a.outcome
	}
	return x.completeUpload(ctx, q, upload, parts).outcome
}
