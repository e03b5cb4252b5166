package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"warp/pkg/store"
)

// A Selection says which runs Clean is to remove. Without Run and Seed it is
// all that are dead and were not told to keep their objects.
type Selection struct {
	Run    string
	Seed   *uint64
	DryRun bool                             // remove nothing, call Would
	Would  func(run string, o store.Object) // for every object that would be removed
}

// named says whether somebody meant these runs and no others. Only then are
// objects removed that a run was told to keep.
func (s *Selection) named() bool { return s.Run != "" || s.Seed != nil }

func (s *Selection) has(m *marker) bool {
	return (s.Run == "" || m.Run == s.Run) && (s.Seed == nil || m.Seed == *s.Seed)
}

// What Clean says of a run.
const (
	RunAlive = "alive" // or not yet known to be dead
	RunDead  = "dead"
	RunKept  = "kept" // it has ended, and its objects were to stay
)

// A LeftRun is a run of which something is in the bucket.
type LeftRun struct {
	Run, Benchmark, Prefix, State string
	Seed                          uint64
	Wait                          time.Duration // until a run that shows no more life counts as dead
	Chosen                        bool          // it is to be removed
	Objects                       int64         // that were removed, or would be; versions count
}

func (f *foundMarker) state() string {
	switch {
	case !f.Ended && !f.expired():
		return RunAlive
	case f.kept():
		return RunKept
	}
	return RunDead
}

// Clean removes what runs have left in the bucket: their own objects, uploads
// in parts and markers. It never touches a run that may be alive, and knows
// the objects by their names one by one. Cleanup must follow.
func (r *Runner) Clean(ctx context.Context, s Selection) ([]LeftRun, error) {
	counter := &countingProgress{Progress: r.Progress}
	r.Progress = counter
	now, err := r.openClean(ctx, s)
	if err != nil {
		return nil, err
	}
	found, now, err := r.findRuns(ctx, now, s)
	if err != nil {
		return nil, err
	}
	told := map[store.Ref]bool{} // several runs may have kept the same objects
	var left []LeftRun
	var failed error
	for _, m := range found {
		if !s.has(&m.marker) {
			continue
		}
		run := m.left(s.named())
		if run.Chosen {
			run.Objects, err = r.cleanRun(ctx, &m, found, s, now, counter, told)
			if ctx.Err() != nil {
				return left, context.Cause(ctx)
			}
			failed = errors.Join(failed, err)
		}
		left = append(left, run)
	}
	return left, failed
}

// findRuns reads the markers. What was written since is nobody's whom we know,
// and stays; stores may tell times to the second only, so where a run has just
// ended, it waits for the next second.
func (r *Runner) findRuns(ctx context.Context, now time.Time, s Selection) ([]foundMarker, time.Time, error) {
	own := &marker{Run: r.Options.RunID}
	found, now, err := r.otherMarkers(ctx, own, now)
	fresh := func(m foundMarker) bool { return m.Ended && s.has(&m.marker) && m.age < 2*time.Second }
	if err != nil || s.DryRun || !s.named() || !slices.ContainsFunc(found, fresh) || !pause(ctx, 2*time.Second) {
		return found, now, err
	}
	if now, err = r.lease.write(ctx); err != nil {
		return nil, now, fmt.Errorf("write this run's marker to bucket %s: %w", r.Options.Bucket, err)
	}
	return r.otherMarkers(ctx, own, now)
}

func (f *foundMarker) left(named bool) LeftRun {
	run := LeftRun{Run: f.Run, Benchmark: f.Benchmark, Prefix: f.Prefix, Seed: f.Seed, State: f.state()}
	if run.State == RunAlive {
		run.Wait = time.Duration(f.LeaseS*float64(time.Second)) - f.age
	}
	run.Chosen = run.State == RunDead || run.State == RunKept && named
	return run
}

// openClean looks for the bucket and learns the store's time, by which the age
// of a marker counts. Only a write tells it; where nothing may be written the
// time of this machine has to do.
func (r *Runner) openClean(ctx context.Context, s Selection) (now time.Time, err error) {
	o := &r.Options
	exists, err := r.Client.BucketExists(ctx, o.Bucket)
	switch {
	case err != nil:
		return now, fmt.Errorf("look for bucket %s: %w", o.Bucket, err)
	case !exists:
		return now, fmt.Errorf("bucket %s does not exist, so there is nothing to clean up", o.Bucket)
	case s.DryRun:
		return time.Now(), nil
	}
	r.lease = r.newLease(o.FullPrefix())
	now, err = r.lease.write(ctx)
	if err != nil {
		return now, fmt.Errorf("write this run's marker to bucket %s: %w", o.Bucket, err)
	}
	r.lease.renewInBackground()
	return now, nil
}

// cleanRun removes one run, or says what that would remove.
func (r *Runner) cleanRun(ctx context.Context, m *foundMarker, found []foundMarker, s Selection, now time.Time, counter *countingProgress, told map[store.Ref]bool) (objects int64, err error) {
	others := slices.DeleteFunc(slices.Clone(found), func(o foundMarker) bool {
		return o.Run == m.Run || s.named() && s.has(&o.marker) && o.state() != RunAlive
	})
	for _, o := range others {
		if o.answersFor(&m.marker) && m.Claimed && s.named() {
			return 0, fmt.Errorf("run %s has the same names as run %s, which has them yet: nothing of it was removed; --seed=%d chooses both once they have ended", m.Run, o.Run, m.Seed)
		}
	}
	if s.DryRun {
		return r.wouldRemove(ctx, &m.marker, others, told, s.Would)
	}
	counter.n.Store(0)
	if err = r.removeRun(ctx, &m.marker, others, now); err != nil {
		err = fmt.Errorf("remove what run %s left: %w", m.Run, err)
	}
	return counter.n.Load(), err
}

// wouldRemove finds what removeObjects would remove, but for what others were
// told to have, with whom it would be gone by then.
func (r *Runner) wouldRemove(ctx context.Context, m *marker, others []foundMarker, told map[store.Ref]bool, would func(string, store.Object)) (objects int64, err error) {
	if !m.Claimed {
		return 0, nil
	}
	list, err := r.ownFixed(ctx, m)
	if err == nil && !m.answered(others) {
		var named []store.Object
		named, err = r.ownNamed(ctx, m)
		list = append(list, named...)
	}
	if err != nil {
		return 0, err
	}
	for _, o := range list {
		if !told[o.Ref] {
			told[o.Ref] = true
			would(m.Run, o)
			objects++
		}
	}
	return objects, nil
}

// ownNamed finds the objects that have the names of the run that m marks.
func (r *Runner) ownNamed(ctx context.Context, m *marker) (own []store.Object, err error) {
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return nil, err
	}
	names := m.names()
	l := store.List{Bucket: r.Options.Bucket, Prefix: m.Prefix, Versions: state != ""}
	err = r.Client.List(ctx, l, func() { own = nil }, func(o store.Object) bool {
		if names.Owns(o.Key) {
			own = append(own, o)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("look for objects under %s: %w", m.Prefix, err)
	}
	return own, nil
}

// A countingProgress also knows how much was done.
type countingProgress struct {
	Progress
	n atomic.Int64
}

func (p *countingProgress) Add(n int64) {
	p.n.Add(n)
	p.Progress.Add(n)
}
