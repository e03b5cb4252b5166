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

// removeRun removes the objects of the dead run that m marks, then the marker.
// now is when this run read the markers others, by the store's clock.
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

// lateUploadGrace is how long uploads that were cut off may take to arrive all
// the same, before a second look.
const lateUploadGrace = 500 * time.Millisecond

// removeObjects deletes the objects of the run that m marks. Names are checked
// one by one: an object that somebody else put under the run's prefix stays.
// So does what was written at or after the given time, unless that is zero: it
// belongs to a run that has taken the same names since, after we looked.
func (l *Lease) removeObjects(ctx context.Context, m *marker, others []foundMarker, before time.Time) error {
	if !m.Claimed {
		return nil
	}
	l.progress.Begin("Cleaning up", 0)
	defer l.progress.End()
	own := before.IsZero() // this run's own marker, as it has it itself
	if err := l.removeNamedObject(ctx, m, own); err != nil || !m.counted() && m.ownedByOther(others) {
		return err
	}
	state, err := l.store.Versioning(ctx, l.bucket)
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
	all := removal{prefix: m.Prefix, versions: state != "", locked: m.Locked, ours: ours, confirm: l.confirmationFor(m), count: l.countObjects}
	err = l.removeAll(ctx, all)
	if err == nil && l.cutOff && m.Run == l.opts.Run && pause.For(ctx, lateUploadGrace) {
		if err = l.removeNamedObject(ctx, m, own); err == nil { // the store may have been completing it
			err = l.removeAll(ctx, all)
		}
	}
	if err == nil && !m.counted() { // objects with counted names are uploaded in one request
		err = l.abortUploads(ctx, names.Owns)
	}
	if err == nil {
		err = l.store.RemoveFolders(ctx, l.bucket, m.Prefix)
	}
	if err == nil && later != "" {
		return fmt.Errorf("%s was written after its lease had expired", later)
	}
	return err
}

// abortUploads removes what the run was uploading in parts, which is in no
// listing of objects. The whole bucket is looked at, since MinIO takes a
// prefix for one whole name.
func (l *Lease) abortUploads(ctx context.Context, ours func(key string) bool) error {
	err := l.store.AbortUploads(ctx, l.bucket, "", ours)
	switch {
	case store.CodeOf(err) == "AccessDenied":
		// Few need this right, so lacking it must not make every run fail.
		l.progress.Warn("unfinished uploads in parts were not looked for, because these credentials may not list or abort them")
	case err != nil:
		return fmt.Errorf("abort uploads that were not completed: %w", err)
	}
	return nil
}

func (l *Lease) removeMarker(ctx context.Context, m *marker) error {
	state, err := l.store.Versioning(ctx, l.bucket)
	if err != nil {
		return err
	}
	ours := func(o store.Object) bool { return o.Key == m.key() }
	err = l.removeAll(ctx, removal{prefix: m.key(), versions: state != "", ours: ours, count: func(int64) {}})
	if err != nil {
		return err
	}
	return l.store.RemoveFolders(ctx, l.bucket, markerPrefix)
}

// maxAttempts bounds how often a part of the clean-up is tried. A store that
// is restarted or that refuses some objects of a batch is given a moment.
const maxAttempts = 4

// retry calls do until it succeeds, and gives up if that is hopeless or would
// make a person wait for long.
func retry(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		var e *store.Error
		switch {
		case err == nil, attempt == maxAttempts, ctx.Err() != nil:
			return err
		case store.IsTimeout(err), errors.As(err, &e) && (e.Status == 401 || e.Status == 403):
			return err
		}
		if !pause.For(ctx, time.Duration(attempt)*500*time.Millisecond) {
			return err
		}
	}
}

// ClearBucket deletes everything in the bucket, whoever it belongs to.
func (l *Lease) ClearBucket(ctx context.Context) error {
	l.progress.Begin("Clearing the bucket", 0)
	defer l.progress.End()
	state, err := l.store.Versioning(ctx, l.bucket)
	if err == nil {
		everything := func(store.Object) bool { return true }
		err = l.removeAll(ctx, removal{versions: state != "", ours: everything, count: l.countObjects})
	}
	if err != nil {
		return fmt.Errorf("clear bucket %s: %w", l.bucket, err)
	}
	return nil
}

// countObjects counts objects that were removed. Markers are not counted.
func (l *Lease) countObjects(n int64) {
	l.objects.Add(n)
	l.progress.Add(n)
}

// A removal says what is to be deleted.
type removal struct {
	prefix   string
	versions bool                    // all versions of it
	locked   bool                    // also what a retention in governance mode protects
	ours     func(store.Object) bool // of what lies under prefix
	confirm  confirmation            // of those that are; nil = all
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

// requests is how many requests clean-up sends at a time.
func (l *Lease) requests() int { return max(1, min(l.opts.Concurrency, 16)) }

func (l *Lease) sendBatches(ctx context.Context, all removal, out chan<- []store.Ref) error {
	list := store.List{Bucket: l.bucket, Prefix: all.prefix, Versions: all.versions, MaxKeys: l.opts.Batch}
	return l.eachBatch(ctx, list, all.ours, func(objects []store.Object) (err error) {
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
}

// eachBatch calls do for the objects of a listing that pick chooses, some at a time, until it fails. A listing that is
// repeated passes the first ones to do again.
func (l *Lease) eachBatch(ctx context.Context, list store.List, pick func(store.Object) bool, do func([]store.Object) error) error {
	var batch []store.Object
	var failed error
	send := func() bool {
		failed = do(batch)
		batch = nil
		return failed == nil
	}
	err := l.store.List(ctx, list, func() { batch = nil }, func(o store.Object) bool {
		if !pick(o) {
			return true
		}
		batch = append(batch, o)
		return len(batch) < l.maxBatch() || send()
	})
	if err == nil && failed == nil && len(batch) > 0 {
		send()
	}
	return cmp.Or(failed, err)
}

// maxBatch is how many objects one request deletes: as many as a request may,
// but fewer after an interruption, so that a slow store is seen to make
// progress.
func (l *Lease) maxBatch() int {
	most := 1000
	if l.interrupted.Load() {
		most = 100
	}
	if l.opts.Batch > 0 {
		most = min(most, l.opts.Batch)
	}
	return most
}
