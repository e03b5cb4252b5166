package agent

import (
	"errors"
	"fmt"
	"time"

	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/fleet/protocol"
)

// A jobWindow lets the coordinator decide on the window of a run.
type jobWindow struct{ *job }

var _ recording.Coordinator = jobWindow{}

// Warm reports that this client is warm.
func (j jobWindow) Warm(cold int) { j.update(func() { j.status.Warm, j.status.Cold = true, cold }) }

// Ended reports that nothing is left to do here.
func (j jobWindow) Ended() { j.update(func() { j.status.Ended = true }) }

// setWindow passes the coordinator's decision to the run. If the decision comes
// too late, the client's figures cannot be combined with the others'.
func (j *job) setWindow(task *task, o, before protocol.DesiredState) {
	if o.Begin != 0 && before.Begin == 0 {
		err := task.runner.SetBegin(j.clock.Time(o.Begin))
		if errors.Is(err, bench.ErrNotMeasuring) {
			err = j.missedStart("began", o.Begin)
		}
		if err != nil {
			j.failRun(err)
		}
	}
	if o.Close != 0 && before.Close == 0 {
		// A run that was stopped before it began to measure has no window.
		if err := task.runner.SetEnd(j.clock.Time(o.Close)); err != nil && !errors.Is(err, bench.ErrNotMeasuring) {
			j.failRun(err)
		}
	}
}

// missedStart returns the error for a client that learns of the start after the
// measurement began or ended.
func (j *job) missedStart(what string, at int64) error {
	late := max(time.Since(j.clock.Time(at)), 0).Round(time.Millisecond)
	return fmt.Errorf("this client learned of the start of the run %s after the measurement %s", late, what)
}

// failRun ends a run whose figures cannot be combined with the others'.
func (j *job) failRun(err error) {
	j.fail(err)
	j.stop(fmt.Errorf("%w: %w", errStopped, err))
}

// setMarks passes new marks to the run.
func (j *job) setMarks(task *task, o, before protocol.DesiredState) {
	for _, m := range o.Marks[min(len(before.Marks), len(o.Marks)):] {
		task.addMark(m)
	}
}
