package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/internal/human"
	"warp/internal/pause"
	"warp/pkg/bench/pacing"
	"warp/pkg/bench/recording"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A run is the state of one call of [Runner.Run], shared by its workers.
type run struct {
	id, client string
	opts       *Options
	store      *store.Client
	started    time.Time // by the monotonic clock; all times of the log count from here
	base       int64     // started by the wall clock, unix ns

	steering context.Context // ends when no new request may start
	stop     context.CancelCauseFunc
	requests context.Context // ends when requests on the wire are cut off
	cutCause context.CancelCauseFunc
	pacing   context.Context // ends when no further arrival is needed

	stopPacing context.CancelFunc

	pacer        *pacing.Pacer // nil in a closed loop
	begun        time.Time     // the measured part
	deadline     time.Time
	unbounded    bool    // the number of requests at a time has no limit
	budget       *budget // nil without a limit and during the preparation
	meter        *hostload.Meter
	hashed       int64 // bytes of payload that signatures hashed
	load         *hostload.Load
	unsent       *oplog.Unsent
	unsentStages []oplog.Unsent // of each stage; nil if all requests were sent
	stageLengths []int64        // ns
	notes        []string       // about stages
	window       *recording.Window
	coordinator  recording.Coordinator // nil = this process decides on the window
	records      *recording.Collector

	sent   atomic.Int64
	failed atomic.Int64
	drain  drain

	tracing *tracing

	unfinished  atomic.Int64 // uploads in parts that were abandoned at the end
	finished    atomic.Bool  // no worker may start another request
	endReported atomic.Bool  // to the coordinator

	mu    sync.Mutex
	fatal error
	why   Done // reason why nothing was left to do; "" = unknown
}

func newRun(ctx context.Context, o *Options, target *store.Client, t *tracing, c recording.Coordinator) *run {
	u := &run{id: o.RunID, client: o.ClientID, opts: o, store: target, started: time.Now(), tracing: t, coordinator: c}
	u.base = u.started.UnixNano()
	u.window = recording.NewWindow(func() int64 { return u.unixNano(time.Now()) }, c)
	u.makeContexts(ctx)
	u.meter = hostload.NewMeter(u.steering, target.Endpoints(), target.Connections)
	return u
}

// record starts to pass the records of the workers to the sinks. outcome ends it.
func (u *run) record(sinks []recording.Sink) { u.records = recording.Start(sinks, u.window, u.abort) }

// part begins a part of the run with separate contexts, so that requests of one
// part can be cut off alone. join ends it.
func (u *run) part() *run {
	p := &run{id: u.id, client: u.client, opts: u.opts, store: u.store, started: u.started, base: u.base, meter: u.meter, tracing: u.tracing,
		window: u.window, records: u.records}
	p.sent.Store(u.sent.Load())
	p.failed.Store(u.failed.Load())
	p.makeContexts(u.steering)
	return p
}

// join ends a part and adds its counts.
func (u *run) join(p *run) {
	p.cancel()
	u.sent.Store(p.sent.Load())
	u.failed.Store(p.failed.Load())
	u.drain.join(&p.drain)
	u.unfinished.Add(p.unfinished.Load())
}

func (u *run) makeContexts(ctx context.Context) {
	u.steering, u.stop = context.WithCancelCause(ctx)
	// Not a child of ctx, since an interrupt must stop new requests first.
	u.requests, u.cutCause = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(u.steering, u.interrupt)
	u.pacing, u.stopPacing = context.WithCancel(u.steering)
}

func (u *run) cancel() {
	u.drain.measuring.Store(false)
	u.cut(errCutOff)
	u.stop(nil)
	u.stopPacing()
	u.drain.stopTimers()
}

func (u *run) unixNano(t time.Time) int64 { return u.base + int64(t.Sub(u.started)) }

func (u *run) stopped() bool { return u.steering.Err() != nil }

// abort ends the run early because of err. Only the first error counts.
func (u *run) abort(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fatal == nil {
		u.fatal = err
		u.stop(err)
	}
}

func (u *run) countRequest(err error) {
	sent := u.sent.Add(1)
	if err == nil {
		return
	}
	failed := u.failed.Add(1)
	if u.opts.MaxErrors.Exceeded(failed, sent) {
		u.abort(fmt.Errorf("%w (%s): %d of %d failed", ErrTooManyErrors, u.opts.MaxErrors, failed, sent))
	}
}

// begin starts the measured part of the run.
func (u *run) begin(now time.Time) (err error) {
	u.meter.Start()
	u.begun = now
	u.window.Start(u.unixNano(now), recording.WarmUp{
		None: u.opts.Times != nil, Workers: u.opts.Concurrency, OpenLoop: u.opts.OpenLoop(), Min: u.opts.Warmup, Max: maxWarmUp(u.opts.Duration),
	})
	u.hashed = u.store.HashedPayload()
	if u.opts.MaxObjects > 0 || u.opts.TotalSize > 0 {
		u.budget = &budget{objects: u.opts.MaxObjects, bytes: u.opts.TotalSize}
	}
	if u.opts.Duration > 0 {
		u.deadline = now.Add(u.opts.Duration)
		u.window.End(u.unixNano(u.deadline))
	}
	if u.opts.OpenLoop() {
		first := now
		if u.opts.Times != nil {
			first = now.Add(timesLead)
		}
		if u.pacer, err = pacing.New(u.opts.schedule(), first, u.deadline); err == nil {
			u.pacer.Lag = &u.meter.Lag
			u.pacer.Measured = func(due time.Time) bool { return u.window.Begun(u.unixNano(due)) }
		}
	}
	return err
}

// timesLead is the time before the first of Options.Times is due. By then the window has begun, and the workers wait.
const timesLead = 100 * time.Millisecond

// end ends the measured part after all its workers have ended.
func (u *run) end() error {
	drained := time.Now()
	u.load = u.meter.Stop()
	u.hashed = u.store.HashedPayload() - u.hashed
	err := u.awaitEnd()
	if u.pacer != nil {
		u.countUnsent(drained)
		u.pacer.Close()
		err = cmp.Or(err, u.pacer.Err())
	}
	return err
}

// awaitEnd waits until the window has ended.
func (u *run) awaitEnd() error {
	if u.coordinator == nil {
		u.window.End(u.unixNano(time.Now()))
		return nil
	}
	late := time.Now().Add(coordinatorTimeout)
	err := u.window.Undecided()
	for ; err != nil && !u.stopped() && time.Now().Before(late); err = u.window.Undecided() {
		pause.For(u.steering, 10*time.Millisecond)
	}
	if u.stopped() {
		u.window.End(u.unixNano(time.Now()))
		return nil
	}
	return err
}

// coordinatorTimeout is how long a run that is over waits for the coordinator to
// set the end of its window.
const coordinatorTimeout = 15 * time.Second

// countUnsent counts the arrivals that were due in the window and were not sent. A
// window without a start is the whole run.
func (u *run) countUnsent(drained time.Time) {
	if len(u.opts.Stages) > 0 {
		u.countUnsentByStage(drained)
		return
	}
	from, to := u.window.Span()
	if unsent := u.pacer.Unsent(u.timeOf(from), u.timeOf(to)); unsent.Count > 0 {
		logged := u.logUnsent(unsent, drained)
		u.unsent = &logged
	}
}

// logUnsent returns arrivals that were not sent, as the log has them.
func (u *run) logUnsent(unsent pacing.Unsent, drained time.Time) oplog.Unsent {
	return oplog.Unsent{
		Count: unsent.Count, FirstDue: time.Unix(0, u.unixNano(unsent.FirstDue)).UTC(), Interval: unsent.Interval,
		Until: time.Unix(0, u.unixNano(drained)).UTC(),
	}
}

// countUnsentByStage notes how long each stage was, and counts the arrivals that were due in it and were not sent. A stage of which no request was sent
// has no place in the report, so that notes have the numbers, too.
func (u *run) countUnsentByStage(drained time.Time) {
	from := u.begun
	_, end := u.window.Span()
	stages := make([]oplog.Unsent, len(u.opts.Stages))
	for i, stage := range u.opts.Stages {
		to := from.Add(stage.Length)
		if ended := u.timeOf(end); ended.Before(to) { // the run was interrupted
			to = ended
		}
		if !from.Before(to) {
			break
		}
		u.stageLengths = append(u.stageLengths, int64(to.Sub(from)))
		if unsent := u.pacer.Unsent(from, to); unsent.Count > 0 {
			stages[i], u.unsentStages = u.logUnsent(unsent, drained), stages
			u.notes = append(u.notes, fmt.Sprintf("stage %d (%s): %s due and never sent", i+1, stage.Title(), human.Count(unsent.Count, "request was", "requests were")))
		}
		from = to
	}
}

// timeOf is the inverse of unixNano.
func (u *run) timeOf(ns int64) time.Time { return u.started.Add(time.Duration(ns - u.base)) }

// steps is the loop of a worker. It performs one step after the other until the time
// is over or nothing is left to do. Then outstanding requests may finish during the
// drain.
func (u *run) steps(w *Worker, op Op) error {
	for !u.stopped() && !u.finished.Load() {
		if u.budget.spent() {
			u.nothingLeft()
			return nil
		}
		if !u.mayStart(w) {
			if u.pacer != nil && u.pacer.Done() {
				u.setReason(Done("every request was sent"))
				u.nothingLeft()
			}
			return nil
		}
		if err := op.Do(u.requests, w); errors.Is(err, ErrDone) {
			if u.budget == nil { // a budget stops the pacing when no claim can be returned any more
				u.stopPacing() // workers that wait for an arrival can end now
			}
			u.setReason(err)
			u.nothingLeft()
			return err
		}
		u.backOff(w)
	}
	return nil
}

// mayStart waits until w may begin the next step. It returns false if there is none.
func (u *run) mayStart(w *Worker) (ok bool) {
	if u.pacer == nil {
		return u.deadline.IsZero() || time.Now().Before(u.deadline)
	}
	free := time.Now().Add(-w.behind)
	arrival, ok := u.pacer.Next(u.pacing, free)
	if ok {
		due := arrival.Due
		w.due, w.Arrival = due, arrival.Number
		if free.Before(due) {
			free = due
		}
		w.behind = time.Since(free)
		if stages := u.opts.Stages; len(stages) > 0 {
			w.statement = statementOf(1+pacing.StageAt(stages, due.Sub(u.begun)), false)
		}
	}
	return ok
}

// backOff pauses a worker whose host refused the connection. Otherwise the log would
// fill with errors as fast as the machine can make them.
func (u *run) backOff(w *Worker) {
	if w.refused {
		w.refused = false
		pause.For(u.steering, refusedPause)
	}
}

// nothingLeft is called when a worker has nothing left to do. Other workers may still
// use claims that are returned.
func (u *run) nothingLeft() {
	if c := u.coordinator; c == nil {
		u.window.End(u.unixNano(time.Now()))
	} else if !u.endReported.Swap(true) {
		c.Ended()
	}
	u.startDrain()
}

// finish ends the run in good order: no new request starts, and outstanding ones
// may finish. A coordinator that asks for this sets the end of the window itself.
func (u *run) finish(why string) {
	u.setReason(Done(why))
	u.finished.Store(true)
	u.stopPacing()
	if u.coordinator == nil {
		u.window.End(u.unixNano(time.Now()))
	}
	u.startDrain()
}

// refusedPause is short, since the next request may go to a host that answers.
const refusedPause = 10 * time.Millisecond
