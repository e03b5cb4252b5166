package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"warp/internal/pause"
	"warp/pkg/bench/recording"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A Runner performs one benchmark. Call [Runner.Open], [Runner.Run] and, whether or
// not these succeed, [Runner.Cleanup].
type Runner struct {
	Client   *store.Client
	Op       Op
	Options  Options
	Progress Progress
	// Gate is called between Prepare and the measured run. It returns the start of
	// the measured run; nil = now.
	Gate func(ctx context.Context) (time.Time, error)
	// Window decides on the window of a run with several clients, and calls SetBegin
	// and SetEnd; nil = this process decides.
	Window recording.Coordinator
	// Panicking is called when a worker panics, before the process ends; nil = not called.
	Panicking func()
	// UnixNano returns the time of day for the log; nil = the system's clock.
	UnixNano func(time.Time) int64

	env     *Env                // of the first bucket, with all others
	running atomic.Pointer[run] // nil unless it measures
	tracer
	marking
	cutOff bool  // requests were cut off, and may still arrive at the store
	sent   int64 // requests of Run
}

// An Outcome says how a run ended.
type Outcome struct {
	Trailer      oplog.Trailer
	Sent, Failed int64 // recorded requests, and failures among them
	Fatal        error // what ended the run early; nil = nothing
}

// ErrInterrupted is the cause of a context that a person has cancelled.
var ErrInterrupted = errors.New("interrupted")

// ErrTooManyErrors ends a run that passed --max-errors.
var ErrTooManyErrors = errors.New("more requests failed than --max-errors allows")

// Open prepares buckets and acquires leases. Cleanup must follow, whether or not
// Open fails.
func (r *Runner) Open(ctx context.Context) error {
	if r.Progress == nil {
		r.Progress = noProgress{}
	}
	if err := r.checkFileLimit(); err != nil {
		return err
	}
	if err := tryHosts(ctx, r.Client, &r.Options, r.Progress); err != nil {
		return err
	}
	r.env = r.newEnv(r.Options.Bucket)
	if r.Options.NoBucket {
		return nil
	}
	if err := r.open(ctx, r.env); err != nil {
		return err
	}
	r.Options.Bucket = r.env.Bucket // may be LockBucket
	for _, bucket := range r.Options.MoreBuckets {
		env := r.newEnv(bucket)
		r.env.Buckets = append(r.env.Buckets, env) // also if it fails, for Cleanup
		if err := r.open(ctx, env); err != nil {
			return err
		}
	}
	return nil
}

// newEnv returns the Env of a bucket that is not open yet.
func (r *Runner) newEnv(bucket string) *Env {
	o := &r.Options
	e := &Env{
		Client: r.Client, Bucket: bucket, Seed: o.Seed, ObjectsSeed: o.objectsSeed(),
		ObjectsPrefix: joinPrefix(o.Prefix, generator.ClientPrefix(o.objectsSeed(), o.Client, o.Clients)),
		Stream:        o.stream(0), Concurrency: o.Concurrency,
		Names:    generator.NewNames(o.FullPrefix(), o.Seed, o.Layout),
		Progress: r.Progress, panicking: r.Panicking,
		Number: o.Client, Clients: o.Clients,
		NamesOf: func(client int) *generator.Names { return generator.NewNames(o.prefixOf(client), o.Seed, o.Layout) },
	}
	e.Buckets = []*Env{e}
	return e
}

// open opens the bucket of e.
func (r *Runner) open(ctx context.Context, e *Env) error {
	l := r.newLease(e.Bucket)
	if !r.Options.ReadOnly {
		e.Lease, e.uploadHeaders = l, l.UploadHeaders()
	}
	err := l.Open(ctx)
	e.Bucket = l.Bucket()
	return err
}

// newLease returns the lease of this run's names in a bucket.
func (r *Runner) newLease(bucket string) *lease.Lease { return lease.New(r.leaseOptions(bucket)) }

func (r *Runner) leaseOptions(bucket string) lease.Options {
	o := &r.Options
	return lease.Options{
		Store: r.Client, Bucket: bucket, Run: cmp.Or(o.LeaseID, o.RunID), Benchmark: o.Benchmark, Warp: o.Warp,
		Prefix: o.FullPrefix(), Layout: o.Layout, Seed: o.Seed, Client: o.Client, Clients: o.Clients,
		ObjectKey: o.objectKey(), ObjectKeyChosen: o.ObjectNameGiven,
		KeepData: o.KeepData, NoClear: o.NoClear, ReadOnly: o.ReadOnly, ClearBucket: o.ClearBucket, Versions: o.Versions,
		Locked: o.Lock, LockBucket: o.LockBucket,
		Length: o.Lease, Concurrency: o.Concurrency, Batch: o.Batch, Progress: r.Progress, Written: r.written,
	}
}

// written returns how many names the workers have used, and how many requests they have sent. They have ended.
func (r *Runner) written() (names, requests int64) {
	if r.env == nil {
		return 0, 0
	}
	if r.Options.Checks != nil { // clients write below each other's prefixes
		return r.sent * int64(max(r.Options.Clients, 1)), r.sent
	}
	for _, w := range r.env.Workers {
		names += int64(w.uploads + w.named)
	}
	return names, r.sent
}

// leases returns the leases of all buckets that the run writes to.
func (r *Runner) leases() (all []*lease.Lease) {
	if r.env == nil {
		return nil // Open has failed early
	}
	for _, e := range r.env.Buckets {
		if e.Lease != nil {
			all = append(all, e.Lease)
		}
	}
	return all
}

// Run prepares and measures. Open must have succeeded.
func (r *Runner) Run(ctx context.Context, sinks ...recording.Sink) *Outcome {
	run := newRun(ctx, &r.Options, r.Client, r.trace(&r.Options), r.Window)
	if r.UnixNano != nil {
		run.base = r.UnixNano(run.started)
	}
	defer run.cancel()
	run.record(sinks)
	for _, l := range r.leases() {
		l.OnLapse(run.abort)
	}
	err := r.makeWorkers(run)
	if err == nil && !r.Options.ReadOnly {
		err = r.env.tryOptions(run.requests, r.Op)
	}
	if err == nil {
		err = r.Op.Prepare(run.requests, r.env)
		r.cutOff = err != nil // a failed upload cuts off the others, like an interrupt
	}
	if err == nil {
		run.records.Sync() // the following rows belong to the measured part
		err = r.measure(run)
	}
	out := run.outcome(err)
	out.Trailer.Notes = append(out.Trailer.Notes, refusedNotes(r.Client)...)
	for _, w := range r.env.Workers {
		out.Trailer.Picks = out.Trailer.Picks.Add(&w.picks)
	}
	r.cutOff = r.cutOff || run.drain.cutAny()
	r.sent = out.Sent
	r.checkLapsed(out)
	return out
}

func (r *Runner) makeWorkers(run *run) error {
	payload, err := generator.NewPayload(r.Options.Payload)
	if err != nil {
		return err
	}
	for i := range r.Options.Concurrency {
		bucket := i % len(r.env.Buckets)
		lanes := 0
		make := func() *Worker {
			w := r.Options.newWorker(i, lanes, r.env.Buckets[bucket], payload, run.records.NewQueue(i))
			w.Bucket, w.run = bucket, run
			lanes++
			return w
		}
		w := make()
		w.Rand, w.newLane = generator.Rand(r.Options.Seed, "worker", r.Options.stream(i)), make
		r.env.Workers = append(r.env.Workers, w)
	}
	return nil
}

// measure lets every worker perform steps until the time is over.
func (r *Runner) measure(run *run) error {
	if run.stopped() {
		return nil
	}
	start, err := r.startTime(run.steering)
	if err != nil {
		return err
	}
	stopShowing := r.Progress.Measuring()
	defer stopShowing()
	for _, w := range r.env.Workers {
		w.Silent = false
	}
	if err := run.begin(start); err != nil {
		return err
	}
	ended := run.measuring()
	r.running.Store(run)
	defer r.running.Store(nil)
	r.marking.window.Store(run.window)
	err = r.env.each(func(w *Worker) error { return run.steps(w, r.Op) })
	ended()
	if errors.Is(err, ErrDone) {
		err = nil
	}
	return cmp.Or(err, run.end())
}

// startTime waits for the time at which the measured run begins.
func (r *Runner) startTime(ctx context.Context) (time.Time, error) {
	if r.Gate == nil {
		return time.Now(), nil
	}
	start, err := r.Gate(ctx)
	if err == nil && !pause.For(ctx, time.Until(start)) {
		err = context.Cause(ctx)
	}
	return start, err
}

// checkLapsed makes a lapsed lease the cause of the run's end, also if it lapsed
// after the last request.
func (r *Runner) checkLapsed(out *Outcome) {
	var known *lease.LapsedError
	if errors.As(out.Fatal, &known) {
		return
	}
	for _, l := range r.leases() {
		if err := l.Lapsed(time.Now()); err != nil {
			out.Fatal = err
			out.Trailer.End, out.Trailer.Reason = "aborted", err.Error()
			return
		}
	}
}

// Cleanup removes the objects of the run, unless the options keep them. It may be
// called whether or not Run succeeded, and does nothing the second time. After the
// end of ctx it continues as long as it makes progress.
func (r *Runner) Cleanup(ctx context.Context) error {
	var errs []error
	for _, l := range r.leases() {
		errs = append(errs, l.Release(ctx, r.cutOff))
	}
	return JoinErrors(errs)
}

// HandOver leaves the objects of the run and its leases, which another process has taken over with Adopt. Cleanup then does
// nothing.
func (r *Runner) HandOver(ctx context.Context) {
	for _, l := range r.leases() {
		l.HandOver(ctx)
	}
}

// Adopt takes over the leases of a run that has prepared its objects, as Options describe it. Cleanup must follow, whether or
// not Adopt succeeds. It calls lapsed when a lease expires.
func (r *Runner) Adopt(ctx context.Context, lapsed func(error)) error {
	if r.Progress == nil {
		r.Progress = noProgress{}
	}
	for _, bucket := range r.Options.allBuckets() {
		e := r.newEnv(bucket)
		if r.env == nil {
			r.env = e
		} else {
			r.env.Buckets = append(r.env.Buckets, e)
		}
		o := r.leaseOptions(bucket)
		o.Written = nil // the other process knows
		e.Lease = lease.New(o)
		if err := e.Lease.Adopt(ctx); err != nil {
			return err
		}
		e.Lease.OnLapse(lapsed)
	}
	return nil
}

// Kept reports whether Cleanup has left the objects of the run because of the
// options.
func (r *Runner) Kept() bool {
	leases := r.leases()
	return len(leases) > 0 && leases[0].Kept()
}

// CleanUpOrphans removes the leftovers of the runs with the given ids, which other
// machines started as parts of this run. It waits until their leases have expired.
// It is called after Cleanup.
func (r *Runner) CleanUpOrphans(ctx context.Context, runs []string) error {
	if r.Options.ReadOnly {
		return nil // nobody wrote anything
	}
	for _, bucket := range r.Options.allBuckets() {
		if err := r.newLease(bucket).CleanUpOrphans(ctx, runs); err != nil {
			return err
		}
	}
	return nil
}

// JoinErrors is errors.Join for errors that are shown in one line.
func JoinErrors(errs []error) (all error) {
	for _, err := range errs {
		switch {
		case all == nil:
			all = err
		case err != nil:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
