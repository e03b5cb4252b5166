package workload

import (
	"context"
	"strings"

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
	outcome := x.tryVersion(ctx, q, consistency.False(consistency.IfIs(old.sent)), first.version)
	if outcome == consistency.Lost {
		outcome = x.tryVersion(ctx, q, consistency.False(consistency.IfLike(replaced.sent)), similar(second.version))
		if outcome == consistency.Failed || outcome == consistency.Unsupported { // no ETag that the store could have made
			outcome = consistency.Lost
		}
	}
	if outcome == consistency.Lost && q.property == consistency.Register { // alone, with the current version, it should succeed
		x.tryVersion(ctx, q, consistency.IfIs(replaced.sent), second.version)
	}
	return outcome
}

// tryVersion replaces or deletes an object if its version is the given one, and returns the outcome.
func (x *worker) tryVersion(ctx context.Context, q request, condition, version string) string {
	q.condition, q.sent = condition, x.token(3)
	if q.property == consistency.DeleteIf {
		return x.delete(ctx, q, store.Condition{Is: version}).outcome
	}
	return x.put(ctx, q, smallBlocks, store.Condition{Is: version}).outcome
}

// similar returns a version that differs in its last character only: a store may compare just the first ones.
func similar(version string) string {
	last := "0"
	if strings.HasSuffix(version, last) {
		last = "1"
	}
	return version[:len(version)-1] + last
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
