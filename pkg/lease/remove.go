package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"warp/internal/pause"
	"warp/pkg/store"
)

// removeRun removes the objects of the dead run that m marks, then the marker. now is
// the time, by the store's clock, at which this run read the other markers.
func (l *Lease) removeRun(ctx context.Context, m *marker, others []foundMarker, now time.Time) error {
	return retry(ctx, func() error {
		if err := l.removeObjects(ctx, m, others, now); err != nil {
			return err
		}
		if err := l.removeMarker(ctx, m); err != nil || !l.store.MadeByWarp(ctx, l.bucket) {
			return err
		}
		return l.suspendVersioning(ctx, m)
	})
}

// lateUploadGrace is how long uploads that were cut off may take to arrive. Objects
// are then listed a second time.
const lateUploadGrace = 500 * time.Millisecond

// removeObjects deletes the objects of the run that m marks. It checks each name: an
// object that somebody else put under the run's prefix stays. So do objects that were
// written at the time before or later, unless it is zero: they belong to a run that
// has used the same names since the markers were read.
func (l *Lease) removeObjects(ctx context.Context, m *marker, others []foundMarker, before time.Time) error {
	if !m.Claimed {
		return nil
	}
	l.progress.Begin("Cleaning up", 0)
	defer l.progress.End()
	own := before.IsZero() // m is this run's own marker
	if err := l.removeNamedObject(ctx, m, own); err != nil || !m.counted() && m.ownedByOther(others) {
		return err
	}
	versions, err := l.hasVersions(ctx)
	if err != nil {
		return err
	}
	names := m.names()
	var later string
	ours := func(o store.Object) bool {
		if !m.mayHaveWritten(names, &o) {
			return false
		}
		if !before.IsZero() && !m.counted() && !o.LastModified.Before(before) {
			later = o.Key
			return false
		}
		return true
	}
	all := removal{prefix: m.Prefix, versions: versions, locked: m.Locked, ours: ours, confirm: l.confirmationFor(m), count: l.countObjects}
	if own && m.Loader == nil {
		all.limit = l.maxOwn(versions)
	}
	err = l.removeAll(ctx, all)
	l.emptied = own && err == nil
	if err == nil && l.cutOff && m.Run == l.opts.Run && pause.For(ctx, lateUploadGrace) {
		if err = l.removeNamedObject(ctx, m, own); err == nil { // the store may just have completed it
			err = l.removeAll(ctx, all)
		}
	}
	if err == nil && !m.counted() { // objects with counted names are uploaded in one request
		err = l.abortUploads(ctx, names.Owns, !own || l.cutOff)
	}
	if err == nil {
		err = l.store.RemoveFolders(ctx, l.bucket, m.Prefix)
	}
	if err == nil && later != "" {
		return fmt.Errorf("%s was written after its lease had expired", later)
	}
	return err
}

// abortUploads aborts the uploads in parts of the run, which listings of objects do not
// show. The whole bucket is listed, since MinIO takes a prefix for a complete name. mayExist says
// that the run may have left uploads, because it was killed or interrupted.
func (l *Lease) abortUploads(ctx context.Context, ours func(key string) bool, mayExist bool) error {
	err := l.store.AbortUploads(ctx, l.bucket, "", ours)
	switch {
	case store.IsUnsupported(err):
		if mayExist {
			l.progress.Warn("unfinished uploads in parts, if there are any, were not removed, because the store does not list them")
		}
	case store.CodeOf(err) == store.CodeDenied:
		// Few users have this right, so a run must not fail without it.
		l.progress.Warn("unfinished uploads in parts were not removed, because these credentials may not list or abort them")
	case err != nil:
		return fmt.Errorf("abort uploads that were not completed: %w", err)
	}
	return nil
}

// errEndless reports a listing of this run's names that has far more than the run can have written.
var errEndless = errors.New("the store invents objects")

// maxOwn limits the listing of this run's names: 0 = no limit. A listing of versions has an entry for each write and
// deletion.
func (l *Lease) maxOwn(versions bool) int64 {
	if l.opts.Written == nil {
		return 0
	}
	names, requests := l.opts.Written()
	if versions {
		names += requests
	}
	return 10 * max(names, 100) // warp's own tests of the store write a few, too
}

func (l *Lease) removeMarker(ctx context.Context, m *marker) error {
	versions, err := l.hasVersions(ctx)
	if err != nil && (m.Claimed || store.Repeatable(err) || ctx.Err() != nil) {
		return err
	}
	// A run that could not begin leaves no marker, or each attempt would add one.
	ours := func(o store.Object) bool { return o.Key == m.key() }
	err = l.removeAll(ctx, removal{prefix: m.key(), versions: versions, ours: ours, count: func(int64) {}})
	if err != nil {
		return err
	}
	return l.store.RemoveFolders(ctx, l.bucket, markerPrefix)
}

// maxAttempts limits how often a part of the clean-up is tried, so that a store can
// restart, or refuse some objects of a batch once.
const maxAttempts = 4

// retry calls do until it succeeds. It gives up if another attempt is useless or could
// take long.
func retry(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		var e *store.Error
		switch {
		case err == nil, attempt == maxAttempts, ctx.Err() != nil:
			return err
		case store.IsTimeout(err), errors.Is(err, errEndless), errors.As(err, &e) && (e.Status == 401 || e.Status == 403):
			return err
		}
		if !pause.For(ctx, time.Duration(attempt)*500*time.Millisecond) {
			return err
		}
	}
}

// ClearBucket deletes all objects in the bucket, including foreign ones.
func (l *Lease) ClearBucket(ctx context.Context) error {
	l.progress.Begin("Clearing the bucket", 0)
	defer l.progress.End()
	versions, err := l.hasVersions(ctx)
	if err == nil {
		everything := func(store.Object) bool { return true }
		err = l.removeAll(ctx, removal{versions: versions, ours: everything, count: l.countObjects})
	}
	if err != nil {
		return fmt.Errorf("clear bucket %s: %w", l.bucket, err)
	}
	return nil
}

// countObjects counts removed objects, without markers.
func (l *Lease) countObjects(n int64) {
	l.objects.Add(n)
	l.progress.Add(n)
}

// A removal says which objects to delete.
type removal struct {
	prefix   string
	versions bool                    // all versions of the objects
	locked   bool                    // also objects under a retention in governance mode
	ours     func(store.Object) bool // reports whether an object under prefix is to be deleted
	confirm  confirmation            // filters these objects; nil = all
	limit    int64                   // max entries under prefix; 0 = no limit
	count    func(int64)
}

func (l *Lease) removeAll(ctx context.Context, all removal) error {
	remove := l.store.Delete
	if all.locked {
		remove = l.store.DeleteLocked
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []store.Ref)
	var wg sync.WaitGroup
	for range l.requests() {
		wg.Go(func() {
			for b := range batches {
				if err := remove(ctx, b); err != nil {
					cancel(err)
					continue
				}
				l.removed.Add(int64(len(b)))
				all.count(int64(len(b)))
			}
		})
	}
	err := l.sendBatches(ctx, all, batches)
	close(batches)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// requests returns the maximum number of requests of the clean-up at a time.
func (l *Lease) requests() int { return max(1, min(l.opts.Concurrency, 16)) }

func (l *Lease) sendBatches(ctx context.Context, all removal, out chan<- []store.Ref) error {
	list := store.List{Bucket: l.bucket, Prefix: all.prefix, Versions: all.versions, MaxKeys: l.opts.Batch}
	seen := int64(0)
	begin := func() { seen = 0 }
	var endless error
	pick := func(o store.Object) (ours, more bool) {
		if seen++; all.limit > 0 && seen > all.limit {
			endless = fmt.Errorf("%w: the listing under %s has more than %d, ten times as many as this run can have written", errEndless, all.prefix, all.limit)
		}
		return all.ours(o), endless == nil
	}
	err := l.eachBatch(ctx, list, begin, pick, func(objects []store.Object) (err error) {
		if all.confirm != nil {
			objects, err = all.confirm(ctx, objects)
		}
		if err != nil || len(objects) == 0 {
			return err
		}
		refs := make([]store.Ref, len(objects))
		for i := range objects {
			refs[i] = objects[i].Ref
		}
		select {
		case out <- refs:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return cmp.Or(endless, err)
}

// eachBatch calls do for the objects of a listing that pick selects, a batch at a time, until it fails or pick wants no
// more. If the listing is repeated, it calls begin, and do gets the first objects again.
func (l *Lease) eachBatch(ctx context.Context, list store.List, begin func(), pick func(store.Object) (ours, more bool), do func([]store.Object) error) error {
	var batch []store.Object
	var failed error
	send := func() bool {
		failed = do(batch)
		batch = nil
		return failed == nil
	}
	err := l.store.List(ctx, list, func() { batch = nil; begin() }, func(o store.Object) bool {
		ours, more := pick(o)
		if !ours || !more {
			return more
		}
		batch = append(batch, o)
		return len(batch) < l.maxBatch() || send()
	})
	if err == nil && failed == nil && len(batch) > 0 {
		send()
	}
	return cmp.Or(failed, err)
}

// maxBatch returns the maximum number of objects that one request deletes. After an
// interruption it is smaller, so that a slow store shows progress.
func (l *Lease) maxBatch() int {
	limit := 1000
	if l.interrupted.Load() {
		limit = 100
	}
	if l.opts.Batch > 0 {
		limit = min(limit, l.opts.Batch)
	}
	return limit
}
