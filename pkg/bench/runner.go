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

// An Env is what operations work with.
type Env struct {
	Client      *store.Client
	Bucket      string
	Seed        uint64
	Stream      int // of the seed's random numbers; it differs between clients that share the seed
	Concurrency int
	Names       *generator.Names
	Progress    Progress
	lease       *lease.Lease // nil if nothing is written
	workers     []*Worker
	// uploadHeaders name the run that uploads, if the name of the object does not.
	uploadHeaders []store.Header
	buckets       []*Env // one for each bucket, this one first; only the first has workers
	panicking     func() // see Runner.Panicking
}

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

	env     *Env
	running atomic.Pointer[run] // nil unless it measures
	tracer
	marking
	lease  *lease.Lease // nil if nothing is written
	more   []*Runner    // opens and cleans up one of MoreBuckets each
	cutOff bool         // requests were cut off, and may still arrive at the store
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
	if err := r.tryHosts(ctx); err != nil {
		return err
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	r.env.buckets = []*Env{r.env}
	for _, bucket := range r.Options.MoreBuckets {
		other := &Runner{Client: r.Client, Progress: r.Progress, Options: r.Options}
		other.Options.Bucket, other.Options.MoreBuckets = bucket, nil
		r.more = append(r.more, other) // also if it fails, for Cleanup
		if err := other.open(ctx); err != nil {
			return err
		}
		r.env.buckets = append(r.env.buckets, other.env)
	}
	return nil
}

// perBucket returns the runner of each bucket.
func (r *Runner) perBucket() []*Runner { return append([]*Runner{r}, r.more...) }

// open prepares the runner's own bucket.
func (r *Runner) open(ctx context.Context) error {
	o := &r.Options
	prefix := o.FullPrefix()
	r.env = &Env{
		panicking: r.Panicking,
		Client:    r.Client, Bucket: o.Bucket, Seed: o.Seed, Stream: o.stream(0), Concurrency: o.Concurrency,
		Names:    generator.NewNames(prefix, o.Seed, o.Layout),
		Progress: r.Progress,
	}
	if o.NoBucket {
		return nil
	}
	made, err := r.openBucket(ctx)
	if err == nil && o.Lock {
		err = r.openLock(ctx, made)
	}
	if err != nil {
		return err
	}
	if o.ReadOnly {
		return nil
	}
	r.lease = r.newLease()
	r.env.lease, r.env.uploadHeaders = r.lease, r.lease.UploadHeaders()
	if o.ClearBucket {
		if err := r.lease.ClearBucket(ctx); err != nil {
			return err
		}
	}
	if err := r.lease.Acquire(ctx); err != nil {
		return err
	}
	if o.Versions {
		return r.lease.EnableVersioning(ctx, made)
	}
	return nil
}

// newLease returns the lease of this run's names in the runner's own bucket.
func (r *Runner) newLease() *lease.Lease {
	o := &r.Options
	return lease.New(lease.Options{
		Store: r.Client, Bucket: o.Bucket, Run: cmp.Or(o.LeaseID, o.RunID), Benchmark: o.Benchmark, Warp: o.Warp,
		Prefix: o.FullPrefix(), Layout: o.Layout, Seed: o.Seed, Client: o.Client, Clients: o.Clients,
		ObjectKey: o.objectKey(), ObjectKeyChosen: o.ObjectNameGiven,
		KeepData: o.KeepData, NoClear: o.NoClear, Locked: o.Lock,
		Length: o.Lease, Concurrency: o.Concurrency, Batch: o.Batch, Progress: r.Progress,
	})
}

// Cleanup removes the objects of the run, unless the options keep them. It may be
// called whether or not Run succeeded, and does nothing the second time. After the
// end of ctx it continues as long as it makes progress.
func (r *Runner) Cleanup(ctx context.Context) error {
	var errs []error
	for _, one := range r.perBucket() {
		if one.lease != nil {
			errs = append(errs, one.lease.Release(ctx, r.cutOff))
		}
	}
	return JoinErrors(errs)
}

// Kept reports whether Cleanup has left the objects of the run because of the
// options.
func (r *Runner) Kept() bool { return r.lease != nil && r.lease.Kept() }

// CleanUpOrphans removes the leftovers of the runs with the given ids, which other
// machines started as parts of this run. It waits until their leases have expired.
// It is called after Cleanup.
func (r *Runner) CleanUpOrphans(ctx context.Context, runs []string) error {
	if r.Options.ReadOnly {
		return nil // nobody wrote anything
	}
	for _, one := range r.perBucket() {
		if err := one.newLease().CleanUpOrphans(ctx, runs); err != nil {
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

// Run prepares and measures. Open must have succeeded.
func (r *Runner) Run(ctx context.Context, sinks ...recording.Sink) *Outcome {
	run := newRun(ctx, &r.Options, r.Client, r.trace(&r.Options), r.Window)
	if r.UnixNano != nil {
		run.base = r.UnixNano(run.started)
	}
	defer run.cancel()
	run.record(sinks)
	for _, one := range r.perBucket() {
		if one.lease != nil {
			one.lease.OnLapse(run.abort)
		}
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
	out.Trailer.Notes = append(out.Trailer.Notes, r.refusedNotes()...)
	r.cutOff = r.cutOff || run.drain.cutAny()
	r.checkLapsed(out)
	return out
}

func (r *Runner) openBucket(ctx context.Context) (made bool, err error) {
	o := &r.Options
	exists, err := r.Client.BucketExists(ctx, o.Bucket)
	if err != nil {
		return false, fmt.Errorf("check bucket %s: %w", o.Bucket, err)
	}
	if exists {
		return false, nil
	}
	if o.ReadOnly {
		return false, fmt.Errorf("bucket %s does not exist, so there is nothing to list", o.Bucket)
	}
	err = r.Client.MakeBucket(ctx, o.Bucket, o.Lock)
	if store.CodeOf(err) == "BucketAlreadyOwnedByYou" {
		return false, nil // another warp was faster
	}
	switch {
	case err != nil && o.Lock:
		return false, fmt.Errorf("create bucket %s with object lock: %w", o.Bucket, err)
	case err != nil:
		return false, fmt.Errorf("create bucket %s: %w", o.Bucket, err)
	}
	return true, nil
}

func (r *Runner) makeWorkers(run *run) error {
	payload, err := generator.NewPayload(r.Options.Payload)
	if err != nil {
		return err
	}
	for i := range r.Options.Concurrency {
		bucket := i % len(r.env.buckets)
		lanes := 0
		make := func() *Worker {
			w := r.Options.newWorker(i, lanes, r.env.buckets[bucket], payload, run.records.NewQueue(i))
			w.bucket, w.run = bucket, run
			lanes++
			return w
		}
		w := make()
		w.Rand, w.newLane = generator.Rand(r.Options.Seed, "worker", r.Options.stream(i)), make
		r.env.workers = append(r.env.workers, w)
	}
	return nil
}

// Finish ends the measured run early but in good order, and records the reason in
// the log. Before and after the measured run it does nothing.
func (r *Runner) Finish(why string) {
	if run := r.running.Load(); run != nil {
		run.finish(why)
	}
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
	for _, w := range r.env.workers {
		w.silent = false
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
	if errors.Is(err, errDone) {
		err = nil
	}
	return cmp.Or(err, run.end())
}

// SetBegin sets the begin of the window, which may be in the near future. Only a
// [recording.Coordinator] calls it. It fails if requests that ended later are already
// recorded.
func (r *Runner) SetBegin(at time.Time) error {
	return r.setWindow(at, (*recording.Window).SetBegin)
}

// SetEnd sets the end of the window, like SetBegin. An earlier deadline prevails; if
// the begin would be later, the window has none.
func (r *Runner) SetEnd(at time.Time) error {
	return r.setWindow(at, (*recording.Window).SetEnd)
}

// ErrNotMeasuring is returned before and after the measured run.
var ErrNotMeasuring = errors.New("no run is being measured")

func (r *Runner) setWindow(at time.Time, set func(*recording.Window, int64) error) error {
	run := r.running.Load()
	if run == nil {
		return ErrNotMeasuring
	}
	return set(run.window, run.unixNano(at))
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
