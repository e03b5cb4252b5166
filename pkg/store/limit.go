package store

import (
	"context"
	"errors"
	"time"
)

// errLimit is the cause of a context whose request took too long as a whole.
var errLimit = errors.New("the answer was not complete in time")

// WithLimit returns a context for a request that has so long for all of its answer; 0 = no limit.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, errLimit)
}

// LimitError replaces the error of a request that failed because ctx, of [WithLimit], had ended. Other errors stay as
// they are.
func LimitError(ctx context.Context, err error, status int) error {
	switch {
	case context.Cause(ctx) != errLimit:
		return err
	case status == 0:
		return Errorf(CodeAnswerTimeout, status, "the store did not answer in time")
	}
	return Errorf(CodeStallTimeout, status, "the store's answer was not complete in time")
}
