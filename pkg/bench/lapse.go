package bench

import (
	"errors"
	"time"

	"warp/pkg/lease"
)

// lapsed returns an error if no request may be sent any more at the given time.
func (e *Env) lapsed(now time.Time) error {
	if e.lease == nil {
		return nil
	}
	return e.lease.Lapsed(now)
}

// checkLapsed makes a lapsed lease the cause of the run's end, also if it lapsed
// after the last request.
func (r *Runner) checkLapsed(out *Outcome) {
	var known *lease.LapsedError
	if errors.As(out.Fatal, &known) {
		return
	}
	for _, one := range r.perBucket() {
		if one.lease == nil {
			continue
		}
		if err := one.lease.Lapsed(time.Now()); err != nil {
			out.Fatal = err
			out.Trailer.End, out.Trailer.Reason = "aborted", err.Error()
			return
		}
	}
}
