package store

import (
	"context"
	"errors"
	"time"
)

// errLimit is the cause when a context of [WithLimit] expires.
var errLimit = errors.New("the answer was not complete in time")

// WithLimit returns a context that limits the time of a request up to the end of its answer; 0 = no
// limit.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, errLimit)
}

// LimitError returns the error of a request that failed because its context, from [WithLimit],
// expired. It returns other errors unchanged.
func LimitError(ctx context.Context, err error, status int) error {
	switch {
	case context.Cause(ctx) != errLimit:
		return err
	case status == 0:
		return Errorf(CodeAnswerTimeout, status, "the store did not answer in time")
	}
	return Errorf(CodeStallTimeout, status, "the store's answer was not complete in time")
}
