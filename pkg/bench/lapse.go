package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lapse is the error of a request that must not be sent any more at the given time; nil where it may.
func (e *Env) lapse(now time.Time) error {
	if e.lease == nil || !e.lease.term.over(now) {
		return nil
	}
	return e.lease.term.lapse()
}

// noteLapse makes a lapse what the run ended with, also where that was noticed after its last request.
func (r *Runner) noteLapse(out *Outcome) {
	var said *LapsedError
	if errors.As(out.Fatal, &said) {
		return
	}
	for _, place := range r.everywhere() {
		if l := place.lease; l != nil && l.term.over(time.Now()) {
			out.Fatal = l.term.lapse()
			out.Trailer.End, out.Trailer.Reason = "aborted", out.Fatal.Error()
			return
		}
	}
}

// cleanLapsed cleans up after a run whose lease ran out, as the next run would: under a marker that tells the store's
// time and has no names, and only what no other run answers for.
func (r *Runner) cleanLapsed(ctx context.Context, l *lease) (err error) {
	if l.marker.kept() {
		r.kept = true
		return nil
	}
	look := r.newLease(l.marker.Prefix)
	look.marker.Run += "-after"
	defer func() {
		if removed := r.withdraw(ctx, look); err == nil {
			err = removed
		}
	}()
	written, err := look.write(ctx)
	if err != nil {
		return err
	}
	others, now, err := r.otherMarkers(ctx, &look.marker, written)
	if err != nil {
		return err
	}
	for _, m := range others {
		switch {
		case m.Run != l.marker.Run:
		case !m.expired():
			return errors.New("by the store's clock its lease is not over yet")
		default:
			return r.removeRun(ctx, &m.marker, others, now)
		}
	}
	if !l.marker.Claimed {
		return nil
	}
	return fmt.Errorf("another warp took this run for dead and removed its marker, so what it has written since stays under %s", l.marker.Prefix)
}
