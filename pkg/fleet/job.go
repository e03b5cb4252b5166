package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/transport"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A Task is the work of a job: what an agent does with the store. Open, Run and
// Cleanup are called in this order, Cleanup in any case.
type Task interface {
	Open(ctx context.Context) error
	// Run calls gate when everything is prepared, and measures from the time
	// that it returns.
	Run(ctx context.Context, gate func(context.Context) (time.Time, error)) (*bench.Outcome, error)
	// Finish ends the measured run in good order; it does nothing before it.
	Finish(why string)
	// Trace notes the phases of requests from now on, or no longer.
	Trace(on bool)
	// Store completes the log, or what takes its place; the path is empty where
	// there is none.
	Store(o *desiredState) (path string, err error)
	// SetBegin and SetEnd say when the window begins and ends. They fail where
	// that comes too late.
	SetBegin(time.Time) error
	SetEnd(time.Time) error
	// AddMark notes what was done to the store, once the run has begun to measure.
	AddMark(oplog.Mark)
	// Summary writes what was counted; nil where nothing was measured.
	Summary() ([]byte, error)
	// SoFar writes what was counted so far; nil where nobody wants it.
	SoFar() ([]byte, error)
	// Cleanup removes what the run wrote.
	Cleanup() error
	// CleanUpOrphans, which comes after it, removes what the lost clients of these names left.
	CleanUpOrphans(ctx context.Context, lost []string) error
	// Close lets go of the store; nothing is asked of it after that.
	Close()
	// Log is where the log is while it is written; "" where there is none yet.
	Log() string
	// Live writes the figures so far.
	Live() []byte
	// Metrics writes those so far; nil where nobody wants them.
	Metrics() ([]byte, error)
	Engine() string
}

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
	clock            clock
	agent            *Agent

	coordinatorCtx  context.Context // ends when the coordinator was not heard for too long
	loseCoordinator context.CancelCauseFunc
	ctx             context.Context // ends with it, and when the run is stopped
	stop            context.CancelCauseFunc

	mu      sync.Mutex
	spec    *Job // nil until it has arrived
	task    Task // nil before the job has begun
	feed    *feed
	desired desiredState
	status  status
	changed chan struct{}   // closed and replaced whenever desired or status changes
	contact time.Time       // when the coordinator was heard last
	channel *transport.Conn // of the coordinator; nil while there is none
	over    bool
	titled  Phase // in which the title of the status began
}

func newJob(a *Agent, want *attachRequest) *job {
	j := &job{
		run: want.Run, client: want.Client, key: want.Key, since: time.Now(), clock: newClock(a.options.Skew), agent: a,
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
func (j *job) state() (status, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status, j.changed
}

// assign gives the job its share. A second time is the coordinator's way of
// making sure.
func (j *job) assign(spec *Job) error {
	if err := spec.check(); err != nil {
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
func (j *job) assigned() (*Job, error) {
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
func (j *job) apply(o desiredState) {
	ends := false
	var before desiredState
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
func (j *job) stopAt(o *desiredState) {
	cause := o.cause()
	if o.Close == 0 {
		j.stop(cause)
		return
	}
	time.AfterFunc(time.Until(j.clock.time(o.Close)), func() { j.stop(cause) })
}

// trace switches the task's tracing as desired. The lock is held.
func (j *job) trace() {
	if j.task != nil && j.desired.Trace != "" {
		j.task.Trace(j.desired.Trace == traceOn)
	}
}

// begunTask is nil before the job has begun.
func (j *job) begunTask() Task {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.task
}

// finish ends the measured run in good order when its time has come. It says so
// until that has come true: the run may just be about to begin.
func (j *job) finish(o desiredState) {
	for d := time.Until(j.clock.time(o.End)); pause(j.ctx, d); d = 100 * time.Millisecond {
		j.mu.Lock()
		task, phase := j.task, j.status.Phase
		j.mu.Unlock()
		if phase >= Measured {
			return
		}
		if task != nil {
			task.Finish(o.EndReason)
		}
	}
}

// cause is why a run was stopped.
func (o *desiredState) cause() error {
	if o.Stop == interruptedRun {
		return bench.ErrInterrupted
	}
	return fmt.Errorf("%w: %s", errStopped, o.Stop)
}

// awaitGoal waits until the desired state has the goal, or for the end of ctx.
func (j *job) awaitGoal(ctx context.Context, goal Phase) (desiredState, error) {
	return j.awaitDesired(ctx, func(o *desiredState) bool { return o.Goal >= goal })
}

func (j *job) awaitDesired(ctx context.Context, enough func(*desiredState) bool) (desiredState, error) {
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
	task, err := j.agent.options.NewTask(j, spec)
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
	task.Close()
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
func (j *job) measure(task Task) error {
	if _, err := j.awaitGoal(j.ctx, Opened); err != nil {
		return err
	}
	if err := task.Open(j.ctx); err != nil {
		return err
	}
	j.setPhase(Opened)
	if _, err := j.awaitGoal(j.ctx, Prepared); err != nil {
		return err
	}
	if task.Log() != "" {
		j.update(func() { j.feed, j.status.Log = &feed{name: task.Log}, true })
	}
	out, err := task.Run(j.ctx, j.gate)
	if out != nil {
		j.update(func() { j.status.Outcome = encodeOutcome(out) })
	}
	if err != nil {
		return err
	}
	j.setPhase(Measured)
	return nil
}

// gate is where the run waits for all others, and then for the common start.
func (j *job) gate(ctx context.Context) (time.Time, error) {
	j.setPhase(Prepared)
	o, err := j.awaitGoal(ctx, Measured)
	if err == nil && (ctx.Err() != nil || o.Start == 0) { // the goal has moved on without a run
		err = o.cause()
	}
	if err != nil {
		return time.Time{}, err
	}
	return j.clock.time(o.Start), nil
}

func (j *job) setBegan(at time.Time) { j.update(func() { j.status.Began = j.clock.unixNano(at) }) }

// store waits for what the coordinator has to say about the run, since that
// goes into the log too, and completes it.
func (j *job) store(task Task) {
	path, err := task.Store(j.finalState())
	if err != nil {
		j.fail(err)
	}
	if path == "" {
		j.update(func() {
			j.status.Phase, j.status.Title = Stored, ""
			j.feed = nil
		})
		return
	}
	if j.spec.keepsLog() {
		j.agent.logf("the log of run %s is %s", j.run, path)
	}
	f := &feed{name: func() string { return path }, complete: true}
	size, sum, err := f.sum()
	if err != nil {
		j.fail(err)
	}
	j.update(func() {
		if j.feed != nil {
			j.feed.finish(path)
		} else {
			j.feed = f
		}
		j.status.Log = true
		j.status.Phase, j.status.Title, j.status.Bytes, j.status.SHA256 = Stored, "", size, sum
	})
}

// finalState waits for what the coordinator wants in the log.
func (j *job) finalState() *desiredState {
	o, err := j.awaitGoal(j.coordinatorCtx, Stored)
	if err != nil {
		return &desiredState{Notes: []string{"the coordinator of this run was lost; this client stopped and cleaned up by itself"}}
	}
	return &o
}

// clean removes what the run wrote. The coordinator asks for it when all logs
// are there; a job without a coordinator does not wait for that.
func (j *job) clean(task Task) {
	_, _ = j.awaitGoal(j.coordinatorCtx, Cleaned) // losing the coordinator is as good a reason
	err := task.Cleanup()
	j.update(func() {
		j.setCleanUpError(err)
		j.status.Phase, j.status.TakesOrphans = Cleaned, true
	})
}

// setCleanUpError notes why something is left. The lock is held.
func (j *job) setCleanUpError(err error) {
	if err != nil && j.status.Clean == "" {
		j.status.Clean = j.agent.options.redact(j.spec)(err.Error())
	}
}

// cleanUpOrphans removes what lost clients left, until the coordinator lets go.
func (j *job) cleanUpOrphans(task Task) {
	for done := 0; ; {
		o, err := j.awaitDesired(j.coordinatorCtx, func(o *desiredState) bool { return o.Goal >= Released || len(o.Orphans) > done })
		if err != nil || o.Goal >= Released {
			return
		}
		err = task.CleanUpOrphans(j.coordinatorCtx, o.Orphans[done:])
		done = len(o.Orphans)
		j.update(func() {
			j.setCleanUpError(err)
			j.status.OrphansDone = done
		})
	}
}

// close frees the agent once the coordinator lets go, or is gone.
func (j *job) close() {
	j.update(func() { j.status.Phase = max(j.status.Phase, Cleaned) }) // also if it never began
	_, _ = j.awaitGoal(j.coordinatorCtx, Released)
	j.update(func() {
		j.over = true
		j.status.Phase = Released
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

func (j *job) setPhase(p Phase) {
	j.update(func() {
		j.status.Phase = p
		if j.task != nil {
			j.status.Engine = j.task.Engine()
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
	stage := min(j.status.Phase, Stored)
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
func encodeOutcome(o *bench.Outcome) *outcome {
	p := &outcome{Trailer: o.Trailer, Sent: o.Sent, Failed: o.Failed}
	if o.Fatal != nil {
		p.Fatal, p.Code = o.Fatal.Error(), store.CodeOf(o.Fatal)
		p.TooMany = errors.Is(o.Fatal, bench.ErrTooManyErrors)
		p.Interrupted = errors.Is(o.Fatal, bench.ErrInterrupted) || errors.Is(o.Fatal, errStopped) || errors.Is(o.Fatal, errCoordinatorLost)
	}
	return p
}
