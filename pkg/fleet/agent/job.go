package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/store"
)

// Causes of the end of a job's context.
var (
	errStopped = errors.New("the run was stopped")
	// errCoordinatorLost ends the run of an agent that does not hear from its coordinator.
	errCoordinatorLost = errors.New("the coordinator was not heard from for too long")
)

// A job is an agent's state of one share of a run. It outlives connections.
type job struct {
	run, client, key string
	since            time.Time
	clock            clock.Clock
	agent            *Agent

	coordinatorCtx  context.Context // ends when the coordinator was not heard for too long
	loseCoordinator context.CancelCauseFunc
	ctx             context.Context // ends with it, and when the run is stopped
	stop            context.CancelCauseFunc

	mu      sync.Mutex
	spec    *protocol.Job // nil until it has arrived
	task    *task         // nil before the job has begun
	feed    *logcopy.Feed
	desired protocol.DesiredState
	status  protocol.Status
	changed chan struct{}   // closed and replaced whenever desired or status changes
	contact time.Time       // when the coordinator was heard last
	channel *transport.Conn // of the coordinator; nil while there is none
	over    bool
	titled  protocol.Phase // in which the title of the status began
}

func newJob(a *Agent, want *protocol.AttachRequest) *job {
	j := &job{
		run: want.Run, client: want.Client, key: want.Key, since: time.Now(), clock: clock.New(a.options.Skew), agent: a,
		contact: time.Now(), changed: make(chan struct{}),
	}
	j.coordinatorCtx, j.loseCoordinator = context.WithCancelCause(context.Background())
	j.ctx, j.stop = context.WithCancelCause(j.coordinatorCtx)
	go j.watchCoordinator()
	go j.runPhases()
	return j
}

// update changes the state under its lock and wakes all that wait for a change.
func (j *job) update(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
	close(j.changed)
	j.changed = make(chan struct{})
}

// state is a copy of the status, and what is closed at its next change.
func (j *job) state() (protocol.Status, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status, j.changed
}

// assign gives the job its share. A second time is the coordinator's way of
// making sure.
func (j *job) assign(spec *protocol.Job) error {
	if err := spec.Check(); err != nil {
		return err
	}
	j.update(func() {
		if j.spec == nil {
			j.spec = spec
		}
	})
	return nil
}

// assigned waits for the share.
func (j *job) assigned() (*protocol.Job, error) {
	for {
		j.mu.Lock()
		spec, changed := j.spec, j.changed
		j.mu.Unlock()
		if spec != nil {
			return spec, nil
		}
		select {
		case <-changed:
		case <-j.ctx.Done():
			return nil, context.Cause(j.ctx)
		}
	}
}

// apply makes the coordinator's desired state the job's. Goals only grow, since
// the same state may arrive twice.
func (j *job) apply(o protocol.DesiredState) {
	ends := false
	var before protocol.DesiredState
	j.update(func() {
		before = j.desired
		o.Goal = max(o.Goal, j.desired.Goal)
		if o.Stop == "" {
			o.Stop = j.desired.Stop
		}
		if ends = o.End != 0 && j.desired.End == 0; !ends {
			o.End, o.EndReason = j.desired.End, j.desired.EndReason
		}
		if o.Trace == "" {
			o.Trace = j.desired.Trace
		}
		o.Begin, o.Close = cmp.Or(before.Begin, o.Begin), cmp.Or(before.Close, o.Close)
		if len(o.Marks) < len(before.Marks) {
			o.Marks = before.Marks
		}
		j.desired = o
		j.trace()
	})
	if task := j.begunTask(); task != nil {
		j.setWindow(task, o, before)
		j.setMarks(task, o, before)
	}
	if ends {
		go j.finish(o)
	}
	if o.Stop != "" && before.Stop == "" {
		j.stopAt(&o)
	}
}

// stopAt ends the run at the end of the window, so that it is the same for all,
// and at once where nobody has decided on that.
func (j *job) stopAt(o *protocol.DesiredState) {
	cause := stopCause(o)
	if o.Close == 0 {
		j.stop(cause)
		return
	}
	time.AfterFunc(time.Until(j.clock.Time(o.Close)), func() { j.stop(cause) })
}

// trace switches the task's tracing as desired. The lock is held.
func (j *job) trace() {
	if j.task != nil && j.desired.Trace != "" {
		j.task.trace(j.desired.Trace == protocol.TraceOn)
	}
}

// begunTask is nil before the job has begun.
func (j *job) begunTask() *task {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.task
}

// finish ends the measured run in good order when its time has come. It says so
// until that has come true: the run may just be about to begin.
func (j *job) finish(o protocol.DesiredState) {
	for d := time.Until(j.clock.Time(o.End)); clock.Sleep(j.ctx, d); d = 100 * time.Millisecond {
		j.mu.Lock()
		task, phase := j.task, j.status.Phase
		j.mu.Unlock()
		if phase >= protocol.Measured {
			return
		}
		if task != nil {
			task.finish(o.EndReason)
		}
	}
}

// stopCause is why a run was stopped.
func stopCause(o *protocol.DesiredState) error {
	if o.Stop == protocol.Interrupted {
		return bench.ErrInterrupted
	}
	return fmt.Errorf("%w: %s", errStopped, o.Stop)
}

// awaitGoal waits until the desired state has the goal, or for the end of ctx.
func (j *job) awaitGoal(ctx context.Context, goal protocol.Phase) (protocol.DesiredState, error) {
	return j.awaitDesired(ctx, func(o *protocol.DesiredState) bool { return o.Goal >= goal })
}

func (j *job) awaitDesired(ctx context.Context, enough func(*protocol.DesiredState) bool) (protocol.DesiredState, error) {
	for {
		j.mu.Lock()
		o, changed := j.desired, j.changed
		j.mu.Unlock()
		if enough(&o) {
			return o, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return o, context.Cause(ctx)
		}
	}
}

// runPhases goes from phase to phase as desired. Whatever happens, it ends with a
// clean bucket and a log on disk.
func (j *job) runPhases() {
	defer j.close()
	spec, err := j.assigned()
	if err != nil {
		return
	}
	task, err := newTask(j, spec)
	if err != nil {
		j.fail(err)
		return
	}
	j.update(func() {
		j.task = task
		j.trace()
	})
	if err := j.measure(task); err != nil {
		j.fail(err)
	}
	j.store(task)
	j.clean(task)
	j.cleanUpOrphans(task)
	task.close()
}

func (j *job) fail(err error) {
	var nobody *store.UnreachableError
	j.update(func() {
		if j.status.Error == "" {
			j.status.Error, j.status.Code = j.agent.options.redact(j.spec)(err.Error()), store.CodeOf(err)
			j.status.Unreachable = errors.As(err, &nobody)
		}
	})
}

// measure is everything up to the end of the run.
func (j *job) measure(task *task) error {
	if _, err := j.awaitGoal(j.ctx, protocol.Opened); err != nil {
		return err
	}
	if err := task.open(j.ctx); err != nil {
		return err
	}
	j.setPhase(protocol.Opened)
	if _, err := j.awaitGoal(j.ctx, protocol.Prepared); err != nil {
		return err
	}
	if task.logName() != "" {
		j.update(func() { j.feed, j.status.Log = logcopy.Growing(task.logName), true })
	}
	out, err := task.run(j.ctx, j.gate)
	if out != nil {
		j.update(func() { j.status.Outcome = encodeOutcome(out) })
	}
	if err != nil {
		return err
	}
	j.setPhase(protocol.Measured)
	return nil
}

// gate is where the run waits for all others, and then for the common start.
func (j *job) gate(ctx context.Context) (time.Time, error) {
	j.setPhase(protocol.Prepared)
	o, err := j.awaitGoal(ctx, protocol.Measured)
	if err == nil && (ctx.Err() != nil || o.Start == 0) { // the goal has moved on without a run
		err = stopCause(&o)
	}
	if err != nil {
		return time.Time{}, err
	}
	return j.clock.Time(o.Start), nil
}

func (j *job) setBegan(at time.Time) { j.update(func() { j.status.Began = j.clock.UnixNano(at) }) }

// store waits for what the coordinator has to say about the run, since that
// goes into the log too, and completes it.
func (j *job) store(task *task) {
	path, err := task.completeLog(j.finalState())
	if err != nil {
		j.fail(err)
	}
	if path == "" {
		j.update(func() {
			j.status.Phase, j.status.Title = protocol.Stored, ""
			j.feed = nil
		})
		return
	}
	if j.spec.KeepsLog() {
		j.agent.logf("the log of run %s is %s", j.run, path)
	}
	f := logcopy.Complete(path)
	size, sum, err := f.Sum()
	if err != nil {
		j.fail(err)
	}
	j.update(func() {
		if j.feed != nil {
			j.feed.Finish(path)
		} else {
			j.feed = f
		}
		j.status.Log = true
		j.status.Phase, j.status.Title, j.status.Bytes, j.status.SHA256 = protocol.Stored, "", size, sum
	})
}

// finalState waits for what the coordinator wants in the log.
func (j *job) finalState() *protocol.DesiredState {
	o, err := j.awaitGoal(j.coordinatorCtx, protocol.Stored)
	if err != nil {
		return &protocol.DesiredState{Notes: []string{"the coordinator of this run was lost; this client stopped and cleaned up by itself"}}
	}
	return &o
}

// clean removes what the run wrote. The coordinator asks for it when all logs
// are there; a job without a coordinator does not wait for that.
func (j *job) clean(task *task) {
	_, _ = j.awaitGoal(j.coordinatorCtx, protocol.Cleaned) // losing the coordinator is as good a reason
	err := task.cleanUp()
	j.update(func() {
		j.setCleanUpError(err)
		j.status.Phase, j.status.TakesOrphans = protocol.Cleaned, true
	})
}

// setCleanUpError notes why something is left. The lock is held.
func (j *job) setCleanUpError(err error) {
	if err != nil && j.status.Clean == "" {
		j.status.Clean = j.agent.options.redact(j.spec)(err.Error())
	}
}

// cleanUpOrphans removes what lost clients left, until the coordinator lets go.
func (j *job) cleanUpOrphans(task *task) {
	for done := 0; ; {
		o, err := j.awaitDesired(j.coordinatorCtx, func(o *protocol.DesiredState) bool { return o.Goal >= protocol.Released || len(o.Orphans) > done })
		if err != nil || o.Goal >= protocol.Released {
			return
		}
		err = task.cleanUpOrphans(j.coordinatorCtx, o.Orphans[done:])
		done = len(o.Orphans)
		j.update(func() {
			j.setCleanUpError(err)
			j.status.OrphansDone = done
		})
	}
}

// close frees the agent once the coordinator lets go, or is gone.
func (j *job) close() {
	j.update(func() { j.status.Phase = max(j.status.Phase, protocol.Cleaned) }) // also if it never began
	_, _ = j.awaitGoal(j.coordinatorCtx, protocol.Released)
	j.update(func() {
		j.over = true
		j.status.Phase = protocol.Released
	})
	j.loseCoordinator(nil)
	j.agent.release(j)
}

// watchCoordinator ends the run when the coordinator was not heard for too long.
func (j *job) watchCoordinator() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-j.coordinatorCtx.Done():
			return
		}
		j.mu.Lock()
		lost := time.Since(j.contact) > j.agent.options.Timeout
		j.mu.Unlock()
		if lost {
			j.update(func() { j.status.CoordinatorLost = true })
			j.agent.logf("run %s: the coordinator was not heard from for %v; stopping and cleaning up", j.run, j.agent.options.Timeout)
			j.loseCoordinator(errCoordinatorLost)
			return
		}
	}
}

func (j *job) setPhase(p protocol.Phase) {
	j.update(func() {
		j.status.Phase = p
		if j.task != nil {
			j.status.Engine = j.task.engine()
		}
	})
}

// Begin, Add, Moved, End, Warn and Measuring make the job a bench.Progress: what is
// shown is shown at the coordinator.
func (j *job) Begin(title string, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// What is done to several buckets in turn, or for lost clients as well, is one thing. What older runs left was
	// removed before this one.
	stage := min(j.status.Phase, protocol.Stored)
	if j.status.Title != title || j.titled != stage {
		j.status.Total, j.status.Done, j.status.Moved = 0, 0, 0
	}
	j.titled = stage
	j.status.Title, j.status.Idle = title, false
	j.status.Total += total
}

func (j *job) Add(n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Done += n
}

func (j *job) Moved(bytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Moved += bytes
}

func (j *job) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Idle = true
}

// maxWarnings bounds what a status carries.
const maxWarnings = 100

func (j *job) Warn(text string) {
	j.update(func() {
		if len(j.status.Warning) < maxWarnings {
			j.status.Warning = append(j.status.Warning, text)
		}
	})
}

func (j *job) Measuring() (stop func()) {
	j.setBegan(time.Now())
	return func() {}
}

// encodeOutcome is the outcome as a message carries it.
func encodeOutcome(o *bench.Outcome) *protocol.Outcome {
	p := &protocol.Outcome{Trailer: o.Trailer, Sent: o.Sent, Failed: o.Failed}
	if o.Fatal != nil {
		p.Fatal, p.Code = o.Fatal.Error(), store.CodeOf(o.Fatal)
		p.TooMany = errors.Is(o.Fatal, bench.ErrTooManyErrors)
		p.Interrupted = errors.Is(o.Fatal, bench.ErrInterrupted) || errors.Is(o.Fatal, errStopped) || errors.Is(o.Fatal, errCoordinatorLost)
	}
	return p
}
