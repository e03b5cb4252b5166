package agent

import (
	"errors"
	"fmt"

	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
)

// A jobWindow is how a run asks the coordinator for its window.
type jobWindow struct{ *job }

var _ bench.WindowCoordinator = jobWindow{}

// Warm says that this client is warm.
func (j jobWindow) Warm(cold int) { j.update(func() { j.status.Warm, j.status.Cold = true, cold }) }

// Ended says that nothing is left to do here.
func (j jobWindow) Ended() { j.update(func() { j.status.Ended = true }) }

// setWindow tells the run what the coordinator has decided. One that learns of
// it too late is of no use to the others.
func (j *job) setWindow(task *task, o, before protocol.DesiredState) {
	if o.Begin != 0 && before.Begin == 0 {
		if err := task.setBegin(j.clock.Time(o.Begin)); err != nil {
			j.failRun(err)
		}
	}
	if o.Close != 0 && before.Close == 0 {
		// A run that was stopped before it began to measure has no window.
		if err := task.setEnd(j.clock.Time(o.Close)); err != nil && !errors.Is(err, bench.ErrNotMeasuring) {
			j.failRun(err)
		}
	}
}

// failRun ends a run whose figures would not fit the others'.
func (j *job) failRun(err error) {
	j.fail(err)
	j.stop(fmt.Errorf("%w: %w", errStopped, err))
}

// setMarks hands on the marks that the job has not heard of before.
func (j *job) setMarks(task *task, o, before protocol.DesiredState) {
	for _, m := range o.Marks[min(len(before.Marks), len(o.Marks)):] {
		task.addMark(m)
	}
}
