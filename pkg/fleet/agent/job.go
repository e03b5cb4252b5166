package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/internal/pause"
	"warp/pkg/bench"
	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/store"
)

// Reasons why a job's context ends.
var (
	errStopped = errors.New("the run was stopped")
	// errCoordinatorLost ends the run of an agent that has lost its
	// coordinator.
	errCoordinatorLost = errors.New("no message from the coordinator for too long")
)

// A job is an agent's state of one share of a run. It outlives connections.
type job struct {
	run, client, key string
	since            time.Time
	clock            clock.Clock
	agent            *Agent

	coordinatorCtx  context.Context // ends when the coordinator is lost
	loseCoordinator context.CancelCauseFunc
	ctx             context.Context // ends with coordinatorCtx, and when the run is stopped
	stop            context.CancelCauseFunc

	mu      sync.Mutex
	spec    *protocol.Job // nil until it has arrived
	task    *task         // nil before the job has begun
	feed    *logcopy.Feed
	desired protocol.DesiredState
	status  protocol.Status
	changed chan struct{}   // closed and replaced whenever desired or status changes
	contact time.Time       // time of the coordinator's last message
	channel *transport.Conn // of the coordinator; nil if not connected
	over    bool
	titled  protocol.Phase // when the title of the status was set
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

// update changes the state under its lock and wakes all waiters.
func (j *job) update(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
	close(j.changed)
	j.changed = make(chan struct{})
}

// state returns a copy of the status, and a channel that is closed at its next
// change.
func (j *job) state() (protocol.Status, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status, j.changed
}

// assign sets the job's share. The coordinator may repeat it to be sure.
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
func (j *job) assigned() (spec *protocol.Job, err error) {
	err = j.await(j.ctx, func() bool { spec = j.spec; return spec != nil })
	return spec, err
}

// await waits until done returns true, or for the end of ctx. done is called with the lock held.
func (j *job) await(ctx context.Context, done func() bool) error {
	for {
		j.mu.Lock()
		ok, changed := done(), j.changed
		j.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// apply adopts the coordinator's desired state. Goals only grow, because the
// same state may arrive twice.
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

// stopAt ends the run at the end of the window, which is common to all clients,
// or at once if the end is not decided.
func (j *job) stopAt(o *protocol.DesiredState) {
	cause := stopCause(o)
	if o.Close == 0 {
		j.stop(cause)
		return
	}
	time.AfterFunc(time.Until(j.clock.Time(o.Close)), func() { j.stop(cause) })
}

// trace switches the task's tracing as desired. The caller holds the lock.
func (j *job) trace() {
	if j.task != nil && j.desired.Trace != "" {
		j.task.runner.SetTrace(j.desired.Trace == protocol.TraceOn)
	}
}

// begunTask returns the task, or nil before the job has begun.
func (j *job) begunTask() *task {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.task
}

// finish ends the measured run gracefully at its end time. It repeats the
// request, because the run may be just about to begin.
func (j *job) finish(o protocol.DesiredState) {
	for d := time.Until(j.clock.Time(o.End)); pause.For(j.ctx, d); d = 100 * time.Millisecond {
		j.mu.Lock()
		task, phase := j.task, j.status.Phase
		j.mu.Unlock()
		if phase >= protocol.Measured {
			return
		}
		if task != nil {
			task.runner.Finish(o.EndReason)
		}
	}
}

// stopCause returns why the run was stopped.
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

func (j *job) awaitDesired(ctx context.Context, enough func(*protocol.DesiredState) bool) (o protocol.DesiredState, err error) {
	err = j.await(ctx, func() bool { o = j.desired; return enough(&o) })
	return o, err
}

// runPhases goes from phase to phase as desired. Even after a failure it ends
// with a clean bucket and a log on disk.
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
	task.runner.Client.Close()
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

// measure runs everything up to the end of the run.
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

// gate waits for all other clients, and then for the common start.
func (j *job) gate(ctx context.Context) (time.Time, error) {
	j.setPhase(protocol.Prepared)
	o, err := j.awaitGoal(ctx, protocol.Measured)
	if err == nil && (ctx.Err() != nil || o.Start == 0) { // the coordinator skipped the run
		err = stopCause(&o)
	}
	if err == nil && o.Close != 0 && !time.Now().Before(j.clock.Time(o.Close)) {
		err = j.missedStart("ended", o.Close)
	}
	return j.clock.Time(o.Start), err
}

func (j *job) setBegan(at time.Time) { j.update(func() { j.status.Began = j.clock.UnixNano(at) }) }

// store completes the log with the coordinator's final notes about the run.
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

// finalState waits for the coordinator's final notes.
func (j *job) finalState() *protocol.DesiredState {
	o, err := j.awaitGoal(j.coordinatorCtx, protocol.Stored)
	if err != nil {
		return &protocol.DesiredState{Notes: []string{"the coordinator of this run was lost; this client stopped and cleaned up by itself"}}
	}
	return &o
}

// clean removes the objects of the run. The coordinator requests it when it has
// all logs; a job without a coordinator does not wait.
func (j *job) clean(task *task) {
	o, err := j.awaitGoal(j.coordinatorCtx, protocol.Cleaned) // losing the coordinator also starts the clean-up
	if err == nil && o.HandOver {
		task.handOver()
	} else {
		err = task.cleanUp()
	}
	j.update(func() {
		j.setCleanUpError(err)
		j.status.Phase, j.status.TakesOrphans = protocol.Cleaned, true
	})
}

// setCleanUpError records why objects are left. The caller holds the lock.
func (j *job) setCleanUpError(err error) {
	if err != nil && j.status.Clean == "" {
		j.status.Clean = j.agent.options.redact(j.spec)(err.Error())
	}
}

// cleanUpOrphans removes the objects of lost clients, until the coordinator
// releases the job.
func (j *job) cleanUpOrphans(task *task) {
	for done := 0; ; {
		o, err := j.awaitDesired(j.coordinatorCtx, func(o *protocol.DesiredState) bool { return o.Goal >= protocol.Released || len(o.Orphans) > done })
		if err != nil || o.Goal >= protocol.Released {
			return
		}
		err = task.runner.CleanUpOrphans(j.coordinatorCtx, o.Orphans[done:])
		done = len(o.Orphans)
		j.update(func() {
			j.setCleanUpError(err)
			j.status.OrphansDone = done
		})
	}
}

// close frees the agent once the coordinator releases the job, or is lost.
func (j *job) close() {
	j.update(func() { j.status.Phase = max(j.status.Phase, protocol.Cleaned) }) // even if it never began
	_, _ = j.awaitGoal(j.coordinatorCtx, protocol.Released)
	j.update(func() {
		j.over = true
		j.status.Phase = protocol.Released
	})
	j.loseCoordinator(nil)
	j.agent.release(j)
}

// watchCoordinator ends the run when the coordinator is lost. Time in which this
// process was suspended or starved does not count: the messages of that time
// are still unread.
func (j *job) watchCoordinator() {
	const often = 100 * time.Millisecond
	for checked := time.Now(); pause.For(j.coordinatorCtx, often); checked = time.Now() {
		if j.coordinatorIsLost(time.Since(checked) - often) {
			j.update(func() { j.status.CoordinatorLost = true })
			j.agent.logf("run %s: no message from the coordinator for %v; stopping and cleaning up", j.run, j.agent.options.Timeout)
			j.loseCoordinator(errCoordinatorLost)
			return
		}
	}
}

// coordinatorIsLost reports whether the coordinator was silent for the timeout,
// apart from the time in which this process did not run.
func (j *job) coordinatorIsLost(suspended time.Duration) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if suspended > time.Second/2 {
		j.contact = j.contact.Add(min(suspended, time.Since(j.contact)))
	}
	return time.Since(j.contact) > j.agent.options.Timeout
}

func (j *job) setPhase(p protocol.Phase) {
	j.update(func() {
		j.status.Phase = p
		if j.task != nil {
			j.status.Engine = j.task.engine()
		}
	})
}

// Begin, Add, Moved, End, Warn and Measuring implement bench.Progress. The
// coordinator shows the progress.
func (j *job) Begin(title string, total int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// Steps for several buckets or for lost clients count as one. Leftovers of
	// older runs were removed before this one.
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

// maxWarnings limits the warnings in a status.
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

// encodeOutcome encodes the outcome for a message.
func encodeOutcome(o *bench.Outcome) *protocol.Outcome {
	p := &protocol.Outcome{Trailer: o.Trailer, Sent: o.Sent, Failed: o.Failed}
	if o.Fatal != nil {
		p.Fatal, p.Code = o.Fatal.Error(), store.CodeOf(o.Fatal)
		p.TooMany = errors.Is(o.Fatal, bench.ErrTooManyErrors)
		p.Interrupted = errors.Is(o.Fatal, bench.ErrInterrupted) || errors.Is(o.Fatal, errStopped) || errors.Is(o.Fatal, errCoordinatorLost)
	}
	return p
}
