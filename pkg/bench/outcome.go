package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// setReason keeps the reason why nothing is left to do.
func (u *run) setReason(err error) {
	var why Done
	if errors.As(err, &why) {
		u.mu.Lock()
		u.why = why
		u.mu.Unlock()
	}
}

// reason returns why the run ended, or "" if it could end for only one reason.
func (u *run) reason() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	spent := u.budget.reason()
	switch {
	case u.why != "":
		return string(u.why)
	case spent == "" && u.budget != nil && !u.deadline.IsZero():
		return fmt.Sprintf("the time of --duration was over with %s", u.budget.written())
	}
	return spent
}

// outcome ends the recording and describes how the run ended.
func (u *run) outcome(err error) *Outcome {
	sinkErr := u.records.Close()
	o := &Outcome{Sent: u.sent.Load(), Failed: u.failed.Load()}
	t := &o.Trailer
	t.End, t.Load = "completed", u.load
	if u.load != nil {
		u.load.LagMaxS = u.records.MaxLag().Seconds()
		t.Notes = append(t.Notes, hostload.Limits(u.load, u.sent.Load(), u.unbounded)...)
		for _, note := range []string{u.opts.Verify.Note(), hashingNote(u.hashed, u.load.CPUSeconds)} {
			if note != "" {
				t.Notes = append(t.Notes, note)
			}
		}
	}
	if u.opts.Rate > 0 {
		t.Offered = u.opts.Rate
	}
	t.Notes = append(t.Notes, u.notes...)
	u.describeWindow(t)
	o.Fatal = u.cause(sinkErr, err)
	switch {
	case errors.Is(o.Fatal, ErrInterrupted):
		t.End = "interrupted"
	case o.Fatal != nil:
		t.End, t.Reason = "aborted", o.Fatal.Error()
	default:
		t.Reason = u.reason()
	}
	t.Notes = append(t.Notes, u.tracing.changes()...)
	if n := u.unfinished.Load(); n > 0 {
		t.Notes = append(t.Notes, u.drain.unfinishedNote(n))
	}
	t.CutOff = u.drain.cutOff()
	return o
}

// describeWindow adds the window to the trailer.
func (u *run) describeWindow(t *oplog.Trailer) {
	w := u.window.Announced()
	if w.Start == 0 {
		return // nothing was measured
	}
	t.Window = &w
	if u.unsent != nil {
		t.Unsent, t.UnsentWaits = u.unsent.Count, u.unsent
	}
	t.UnsentStages, t.StageLengths = u.unsentStages, u.stageLengths
	for _, stage := range u.unsentStages {
		t.Unsent += stage.Count
	}
	from, to := u.window.Span()
	t.Pauses = u.records.Pauses(u.timeOf(from), u.timeOf(to))
}

// cause returns the cause of an early end: the error that aborted the run, or else
// the error of a sink, an interrupt, or the given error.
func (u *run) cause(sinkErr, err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.fatal != nil:
		return u.fatal
	case sinkErr != nil:
		return sinkErr
	case u.stopped():
		return context.Cause(u.steering)
	}
	return err
}

// hashingLimit is the share of the CPU time that is worth a note.
const hashingLimit = 0.25

// hashingNote says how much of the client's CPU time went into hashing that many bytes of payload; "" if it is little.
func hashingNote(hashed int64, cpuSeconds float64) string {
	if hashed < 64<<20 || cpuSeconds <= 0 {
		return ""
	}
	if share := float64(hashed) * hashingCost() / cpuSeconds; share >= hashingLimit {
		return fmt.Sprintf("about %.0f %% of the client's CPU time went into hashing payload for the signatures of uploads; "+
			"--disable-sha256-payload leaves it unsigned, as it is over TLS", 100*min(share, 0.95))
	}
	return ""
}

// hashingCost returns the seconds that hashing a byte takes: the best of several tries, since it was not interrupted.
func hashingCost() float64 {
	data := make([]byte, 256<<10)
	best := time.Hour
	for range 5 {
		start := time.Now()
		sha256.Sum256(data)
		best = min(best, time.Since(start))
	}
	return best.Seconds() / float64(len(data))
}
