package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// deleteBatch is as many objects as one request may delete.
const deleteBatch = 1000

// Cleanup removes what the run wrote, unless it is to be kept. It may be
// called whether or not Run came far, and does nothing the second time. After
// the end of ctx it goes on as long as it gets on.
func (r *Runner) Cleanup(ctx context.Context) error {
	var errs []error
	for _, place := range r.everywhere() {
		place.loose = r.loose
		work, stop := place.hurry(ctx)
		err := place.cleanup(work)
		if cause := context.Cause(work); err != nil && cause == errNothingMoves {
			err = place.leftBehind(cause)
		}
		stop()
		errs = append(errs, err)
	}
	return JoinErrors(errs)
}

// JoinErrors is errors.Join for what is shown in one line.
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

// cleanup does it in the runner's own bucket.
func (r *Runner) cleanup(ctx context.Context) error {
	l := r.lease
	if l == nil {
		return nil
	}
	r.lease = nil
	defer l.drop()
	if l.unwritten() {
		_ = r.removeMarker(ctx, &l.marker) // most likely it is not there
		if l.mayComeBack() && pause(ctx, landing) {
			_ = r.removeMarker(ctx, &l.marker)
		}
		return nil
	}
	var err error
	if l.term.over(time.Now()) {
		l.drop()
		err = r.cleanLapsed(ctx, l)
	} else if l.marker.kept() {
		r.kept = true
		err = r.leaveVersions(ctx, &l.marker)
		l.stopRenewing(ctx)
		// Without this the run counts as alive until its lease expires, and no longer.
		_ = l.change(ctx, func(m *marker) { m.Ended = true })
	} else {
		// The lease is renewed meanwhile, or a later run might take the names
		// and have its objects removed.
		err = r.cleanOwn(ctx, l)
	}
	if err != nil {
		return r.leftBehind(err)
	}
	return nil
}

// leftBehind says what a clean-up that failed leaves.
func (r *Runner) leftBehind(err error) error {
	return fmt.Errorf("clean up: %w; objects are left under %s, which the next warp on bucket %s removes, %s from now or later",
		err, r.Options.FullPrefix(), r.Options.Bucket, r.Options.Lease)
}

// Kept says whether Cleanup has left the run's objects, as it was told to.
func (r *Runner) Kept() bool { return r.kept }

func (r *Runner) cleanOwn(ctx context.Context, l *lease) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.term.watch(func(err error) { cancel(err) }) // the names may be another run's from then on
	err := persist(ctx, func() error {
		others, _, err := r.otherMarkers(ctx, &l.marker, time.Time{})
		if err != nil {
			return err
		}
		return r.removeObjects(ctx, &l.marker, others, time.Time{})
	})
	if err != nil {
		return err
	}
	l.stopRenewing(ctx) // or the marker would come back
	if err := r.withdraw(ctx, l); err != nil {
		return err
	}
	return r.leaveVersions(ctx, &l.marker)
}

// withdraw removes the marker of a lease that is not renewed any more, for good.
func (r *Runner) withdraw(ctx context.Context, l *lease) error {
	gone := func() error { return r.removeMarker(ctx, &l.marker) }
	err := persist(ctx, gone)
	if err == nil && l.mayComeBack() && pause(ctx, landing) {
		err = persist(ctx, gone)
	}
	return err
}

// removeRun removes the objects of the dead run that m marks, then the marker.
// now is when this run read the markers others, by the store's clock.
func (r *Runner) removeRun(ctx context.Context, m *marker, others []foundMarker, now time.Time) error {
	return persist(ctx, func() error {
		if err := r.removeObjects(ctx, m, others, now); err != nil {
			return err
		}
		if err := r.removeMarker(ctx, m); err != nil || !r.Client.MadeByWarp(ctx, r.Options.Bucket) {
			return err
		}
		return r.leaveVersions(ctx, m)
	})
}

// settle is how long uploads that were cut off are given to arrive all the
// same, before a second look.
const settle = 500 * time.Millisecond

// landing is how long a write of the marker that had no answer is given. It is longer, since a store that had no answer
// in time is a busy one.
const landing = 2 * time.Second

// removeObjects deletes the objects of the run that m marks. Names are checked
// one by one: an object that somebody else put under the run's prefix stays.
// So does what was written at or after the given time, unless that is zero: it
// belongs to a run that has taken the same names since, after we looked.
func (r *Runner) removeObjects(ctx context.Context, m *marker, others []foundMarker, before time.Time) error {
	if !m.Claimed {
		return nil
	}
	r.Progress.Begin("Cleaning up", 0)
	defer r.Progress.End()
	own := before.IsZero() // this run's own marker, as it has it itself
	if err := r.removeFixed(ctx, m, own); err != nil || m.answered(others) {
		return err
	}
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return err
	}
	names := m.names()
	var later string
	ours := func(o store.Object) bool {
		if !names.Owns(o.Key) {
			return false
		}
		if !before.IsZero() && !o.LastModified.Before(before) {
			later = o.Key
			return false
		}
		return true
	}
	all := removal{prefix: m.Prefix, versions: state != "", locked: m.Locked, ours: ours, count: r.Progress.Add}
	err = r.removeAll(ctx, all)
	if err == nil && r.loose && m.Run == cmp.Or(r.Options.LeaseID, r.Options.RunID) && pause(ctx, settle) {
		err = r.removeAll(ctx, all)
	}
	if err == nil {
		err = r.abortUploads(ctx, names)
	}
	if err == nil && later != "" {
		return fmt.Errorf("%s was written after its lease had expired", later)
	}
	return err
}

// abortUploads removes what the run was uploading in parts, which is in no
// listing of objects. The whole bucket is looked at, since MinIO takes a
// prefix for one whole name.
func (r *Runner) abortUploads(ctx context.Context, names *generator.Names) error {
	err := r.Client.AbortUploads(ctx, r.Options.Bucket, "", names.Owns)
	switch {
	case store.CodeOf(err) == "AccessDenied":
		// Few need this right, so lacking it must not make every run fail.
		r.Progress.Warn("unfinished uploads in parts were not looked for, because these credentials may not list or abort them")
	case err != nil:
		return fmt.Errorf("abort uploads that were not completed: %w", err)
	}
	return nil
}

func (r *Runner) removeMarker(ctx context.Context, m *marker) error {
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return err
	}
	ours := func(o store.Object) bool { return o.Key == m.key() }
	return r.removeAll(ctx, removal{prefix: m.key(), versions: state != "", ours: ours, count: func(int64) {}})
}

// leaveVersions suspends the versioning that warp turned on, unless a run that
// is alive needs it, which then does this at its end.
func (r *Runner) leaveVersions(ctx context.Context, m *marker) error {
	if !m.Suspend {
		return nil
	}
	return persist(ctx, func() error {
		others, _, err := r.otherMarkers(ctx, m, time.Time{})
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.Suspend && o.Run != m.Run && !o.kept() {
				return nil
			}
		}
		if err := r.Client.SetVersioning(ctx, r.Options.Bucket, false); err != nil {
			return fmt.Errorf("suspend the versioning that warp turned on: %w", err)
		}
		return nil
	})
}

// cleanPasses bounds how often a part of the clean-up is tried. A store that
// is restarted or that refuses some objects of a batch is given a moment.
const cleanPasses = 4

// persist calls do until it succeeds, and gives up where that is hopeless or
// would have a person wait for long.
func persist(ctx context.Context, do func() error) error {
	for pass := 1; ; pass++ {
		err := do()
		var e *store.Error
		switch {
		case err == nil, pass == cleanPasses, ctx.Err() != nil:
			return err
		case store.IsTimeout(err), errors.As(err, &e) && (e.Status == 401 || e.Status == 403):
			return err
		}
		if !pause(ctx, time.Duration(pass)*500*time.Millisecond) {
			return err
		}
	}
}

// clearBucket deletes everything in the bucket, whoever it belongs to.
func (r *Runner) clearBucket(ctx context.Context) error {
	r.Progress.Begin("Clearing the bucket", 0)
	defer r.Progress.End()
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err == nil {
		everything := func(store.Object) bool { return true }
		err = r.removeAll(ctx, removal{versions: state != "", ours: everything, count: r.Progress.Add})
	}
	if err != nil {
		return fmt.Errorf("clear bucket %s: %w", r.Options.Bucket, err)
	}
	return nil
}

// A removal says what is to be deleted.
type removal struct {
	prefix   string
	versions bool                    // all versions of it
	locked   bool                    // also what a retention in governance mode protects
	ours     func(store.Object) bool // of what lies under prefix
	count    func(int64)
}

func (r *Runner) removeAll(ctx context.Context, all removal) error {
	remove := r.Client.Delete
	if all.locked {
		remove = r.Client.DeleteLocked
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []store.Ref)
	var wg sync.WaitGroup
	for range max(1, min(r.Options.Concurrency, 16)) {
		wg.Go(func() {
			for b := range batches {
				if err := remove(ctx, b); err != nil {
					cancel(err)
					continue
				}
				r.removed.Add(int64(len(b)))
				all.count(int64(len(b)))
			}
		})
	}
	err := r.sendBatches(ctx, store.List{Bucket: r.Options.Bucket, Prefix: all.prefix, Versions: all.versions}, all.ours, batches)
	close(batches)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (r *Runner) sendBatches(ctx context.Context, l store.List, ours func(store.Object) bool, out chan<- []store.Ref) error {
	var batch []store.Ref
	most := func() int {
		if r.hurried.Load() {
			return hurriedBatch
		}
		return deleteBatch
	}
	begin := func() { batch = nil } // what was sent already is deleted, or fails for being gone
	send := func() bool {
		select {
		case out <- batch:
			batch = nil
			return true
		case <-ctx.Done():
			return false
		}
	}
	err := r.Client.List(ctx, l, begin, func(o store.Object) bool {
		if !ours(o) {
			return true
		}
		batch = append(batch, o.Ref)
		return len(batch) < most() || send()
	})
	if err == nil && len(batch) > 0 {
		send()
	}
	return err
}

// isMarker says whether key is a marker of some run rather than an object to
// benchmark with.
func isMarker(key string) bool { return strings.HasPrefix(key, markerPrefix) }
