package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"warp/internal/pause"
	"warp/pkg/store"
)

// A Selection says which runs [Clean] is to remove. Without Run and Seed it is
// all that are dead and were not to keep their objects.
type Selection struct {
	Run    string
	Seed   *uint64
	Kept   bool                             // also all that have ended and were to keep their objects
	DryRun bool                             // remove nothing, call Would
	Would  func(run string, o store.Object) // for every object that would be removed
}

// named reports whether somebody meant these runs and no others. Only then are
// objects removed that a run was to keep.
func (s *Selection) named() bool { return s.Run != "" || s.Seed != nil || s.Kept }

func (s *Selection) has(m *marker) bool {
	return (s.Run == "" || m.Run == s.Run) && (s.Seed == nil || m.Seed == *s.Seed)
}

// The states of a run that Clean finds.
const (
	RunAlive = "alive" // or not yet known to be dead
	RunDead  = "dead"
	RunKept  = "kept" // it has ended, and its objects were to stay
)

// A LeftRun is a run of which something is in the bucket.
type LeftRun struct {
	Run, Benchmark, Prefix, State string
	Seed                          uint64
	Wait                          time.Duration // until a run that shows no sign of life counts as dead
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

func (f *foundMarker) left(named bool) LeftRun {
	run := LeftRun{Run: f.Run, Benchmark: f.Benchmark, Prefix: f.Prefix, Seed: f.Seed, State: f.state()}
	if run.State == RunAlive {
		run.Wait = time.Duration(f.LeaseS*float64(time.Second)) - f.age
	}
	run.Chosen = run.State == RunDead || run.State == RunKept && named
	return run
}

// Clean removes what runs have left in the bucket: their own objects, uploads
// in parts and markers. It never touches a run that may be alive, and knows
// the objects by their names one by one. It returns the runs that it found
// also if it fails.
func Clean(ctx context.Context, o Options, s Selection) ([]LeftRun, error) {
	l := New(o)
	left, err := l.clean(ctx, s)
	if released := l.Release(ctx, false); err == nil {
		err = released
	}
	return left, err
}

func (l *Lease) clean(ctx context.Context, s Selection) ([]LeftRun, error) {
	now, err := l.openClean(ctx, s)
	if err != nil {
		return nil, err
	}
	found, now, err := l.findRuns(ctx, now, s)
	if err != nil {
		return nil, err
	}
	listed := map[store.Ref]bool{} // several runs may have kept the same objects
	var left []LeftRun
	var failed error
	for _, m := range found {
		if !s.has(&m.marker) {
			continue
		}
		run := m.left(s.named())
		if run.Chosen {
			run.Objects, err = l.cleanRun(ctx, &m, found, s, now, listed)
			if ctx.Err() != nil {
				return left, context.Cause(ctx)
			}
			failed = errors.Join(failed, err)
		}
		left = append(left, run)
	}
	return left, failed
}

// openClean looks for the bucket and learns the store's time, by which the age
// of a marker counts. Only a write shows it; a dry run may not write, so it
// uses the time of this machine.
func (l *Lease) openClean(ctx context.Context, s Selection) (now time.Time, err error) {
	exists, err := l.store.BucketExists(ctx, l.bucket)
	switch {
	case err != nil:
		return now, fmt.Errorf("check bucket %s: %w", l.bucket, err)
	case !exists:
		return now, fmt.Errorf("bucket %s does not exist, so there is nothing to clean up", l.bucket)
	case s.DryRun:
		return time.Now(), nil
	}
	l.held = true
	now, err = l.writeOwn(ctx)
	if err != nil {
		return now, err
	}
	l.own.renewInBackground()
	return now, nil
}

// findRuns reads the markers. Objects that were written since belong to nobody
// whom we know, and stay. Stores may tell times to the second only, so if a run
// has just ended, findRuns waits for the next second.
func (l *Lease) findRuns(ctx context.Context, now time.Time, s Selection) ([]foundMarker, time.Time, error) {
	own := &l.own.marker
	found, now, err := l.otherMarkers(ctx, own, now)
	fresh := func(m foundMarker) bool { return m.Ended && s.has(&m.marker) && m.age < 2*time.Second }
	if err != nil || s.DryRun || !s.named() || !slices.ContainsFunc(found, fresh) || !pause.For(ctx, 2*time.Second) {
		return found, now, err
	}
	if now, err = l.writeOwn(ctx); err != nil {
		return nil, now, err
	}
	return l.otherMarkers(ctx, own, now)
}

// cleanRun removes one run, or lists what that would remove.
func (l *Lease) cleanRun(ctx context.Context, m *foundMarker, found []foundMarker, s Selection, now time.Time, listed map[store.Ref]bool) (objects int64, err error) {
	others := slices.DeleteFunc(slices.Clone(found), func(o foundMarker) bool {
		return o.Run == m.Run || s.named() && s.has(&o.marker) && o.state() != RunAlive
	})
	for _, o := range others {
		if o.owns(&m.marker) && m.Claimed && s.named() {
			return 0, fmt.Errorf("run %s has the same names as run %s, which has them yet: nothing of it was removed; --seed=%d chooses both once they have ended", m.Run, o.Run, m.Seed)
		}
	}
	if s.DryRun {
		return l.wouldRemove(ctx, &m.marker, others, listed, s.Would)
	}
	before := l.objects.Load()
	if err = l.removeRun(ctx, &m.marker, others, now); err != nil {
		err = fmt.Errorf("remove leftovers of run %s: %w", m.Run, err)
	}
	return l.objects.Load() - before, err
}

// wouldRemove calls would for each object that removeObjects would remove,
// except those that were listed already: they would be gone by then.
func (l *Lease) wouldRemove(ctx context.Context, m *marker, others []foundMarker, listed map[store.Ref]bool, would func(string, store.Object)) (objects int64, err error) {
	if !m.Claimed {
		return 0, nil
	}
	list, err := l.findNamedObject(ctx, m)
	if err == nil && (m.counted() || !m.ownedByOther(others)) {
		var more []store.Object
		more, err = l.findObjects(ctx, m)
		list = append(list, more...)
	}
	if err != nil {
		return 0, err
	}
	for _, o := range list {
		if !listed[o.Ref] {
			listed[o.Ref] = true
			would(m.Run, o)
			objects++
		}
	}
	return objects, nil
}

// findObjects finds the objects that have names of the run that m marks.
func (l *Lease) findObjects(ctx context.Context, m *marker) (own []store.Object, err error) {
	state, err := l.store.Versioning(ctx, l.bucket)
	if err != nil {
		return nil, err
	}
	names := m.names()
	list := store.List{Bucket: l.bucket, Prefix: m.Prefix, Versions: state != ""}
	err = l.store.List(ctx, list, func() { own = nil }, func(o store.Object) bool {
		if m.mayHaveWritten(names, &o) {
			own = append(own, o)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("look for objects under %s: %w", m.Prefix, err)
	}
	return l.confirmationFor(m)(ctx, own)
}
