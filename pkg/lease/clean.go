package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"warp/internal/pause"
	"warp/pkg/store"
)

// A Selection says which runs [Clean] removes. Without Run and Seed these are all dead
// runs that were not to keep their objects.
type Selection struct {
	Run    string
	Seed   *uint64
	Kept   bool                             // also runs that have ended and were to keep their objects
	DryRun bool                             // remove nothing, call Would
	Would  func(run string, o store.Object) // for every object that would be removed
}

// named reports whether a person has selected these runs. Only then are objects
// removed that a run was to keep.
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

// A LeftRun is a run with leftovers in the bucket.
type LeftRun struct {
	Run, Benchmark, Prefix, State string
	Seed                          uint64
	Wait                          time.Duration // until the lease of the run expires
	Chosen                        bool          // the Selection removes it
	Objects                       int64         // number that were removed, or would be; versions count
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

// Clean removes the leftovers of runs in the bucket: their own objects, uploads in
// parts and markers. It never touches a run that may be alive, and checks the name of
// each object. It returns the runs that it found even if it fails.
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

// openClean checks that the bucket exists and returns the store's time, from which the
// ages of markers count. Only a write shows it. A dry run may not write, so it uses
// the time of this machine.
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
	l.mustRelease = true
	now, err = l.writeOwn(ctx)
	if err != nil {
		return now, err
	}
	l.own.renewInBackground()
	return now, nil
}

// findRuns reads the markers. Objects that are written later belong to unknown runs,
// and stay. Stores may round times to the second, so if a run has just ended, findRuns
// waits for the next second.
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

// cleanRun removes one run, or lists the objects that it would remove.
func (l *Lease) cleanRun(ctx context.Context, m *foundMarker, found []foundMarker, s Selection, now time.Time, listed map[store.Ref]bool) (objects int64, err error) {
	others := slices.DeleteFunc(slices.Clone(found), func(o foundMarker) bool {
		return o.Run == m.Run || s.named() && s.has(&o.marker) && o.state() != RunAlive
	})
	for _, o := range others {
		if o.owns(&m.marker) && m.Claimed && s.named() {
			return 0, fmt.Errorf("run %s has the same names as run %s, which still uses them, so nothing was removed; --seed=%d selects both once they have ended", m.Run, o.Run, m.Seed)
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

// wouldRemove calls would for each object that removeObjects would remove, except
// objects in listed, which would be gone by then.
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

// findObjects finds the objects with names of the run that m marks.
func (l *Lease) findObjects(ctx context.Context, m *marker) (own []store.Object, err error) {
	versions, err := l.hasVersions(ctx)
	if err != nil {
		return nil, err
	}
	names := m.names()
	list := store.List{Bucket: l.bucket, Prefix: m.Prefix, Versions: versions}
	err = l.store.List(ctx, list, func() { own = nil }, func(o store.Object) bool {
		if m.mayHaveWritten(names, &o) {
			own = append(own, o)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects under %s: %w", m.Prefix, err)
	}
	return l.confirmationFor(m)(ctx, own)
}

// Listable reports whether documents in XML 1.0 can contain a name. Clean-up finds objects by
// listings, and deletes them in batches. Stores may encode names in listings, but a batch has no
// encoding for names.
func Listable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == '\uFFFE' || r == '\uFFFF'
	})
}
