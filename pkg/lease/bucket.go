package lease

import (
	"context"
	"fmt"

	"warp/pkg/store"
)

// Open opens the run's bucket as the options say, and acquires the lease unless the run only reads.
// Release must follow, whether or not Open succeeds.
func (l *Lease) Open(ctx context.Context) error {
	made, err := l.openBucket(ctx)
	if err == nil && l.opts.Locked {
		err = l.openLock(ctx, made)
	}
	if err != nil || l.opts.ReadOnly {
		return err
	}
	if l.opts.ClearBucket {
		if err := l.ClearBucket(ctx); err != nil {
			return err
		}
	}
	if err := l.Acquire(ctx); err != nil {
		return err
	}
	if l.opts.Versions {
		return l.enableVersioning(ctx, made)
	}
	return nil
}

// Bucket returns the name of the bucket: after Open, the one that was opened.
func (l *Lease) Bucket() string { return l.bucket }

func (l *Lease) openBucket(ctx context.Context) (made bool, err error) {
	if !l.opts.ReadOnly {
		return CreateBucket(ctx, l.store, l.bucket, l.opts.Locked)
	}
	exists, err := l.store.BucketExists(ctx, l.bucket)
	switch {
	case err != nil:
		return false, fmt.Errorf("check bucket %s: %w", l.bucket, err)
	case !exists:
		return false, fmt.Errorf("bucket %s does not exist, so there is nothing to list", l.bucket)
	}
	return false, nil
}

// CreateBucket creates a bucket, with or without object lock, if it does not exist.
func CreateBucket(ctx context.Context, c *store.Client, bucket string, lock bool) (made bool, err error) {
	exists, err := c.BucketExists(ctx, bucket)
	switch {
	case err != nil:
		return false, fmt.Errorf("check bucket %s: %w", bucket, err)
	case exists:
		return false, nil
	}
	err = c.MakeBucket(ctx, bucket, lock)
	switch {
	case store.CodeOf(err) == "BucketAlreadyOwnedByYou":
		return false, nil // another warp was faster
	case err != nil && lock:
		return false, fmt.Errorf("create bucket %s with object lock: %w", bucket, err)
	case err != nil:
		return false, fmt.Errorf("create bucket %s: %w", bucket, err)
	}
	return true, nil
}

// openLock makes sure that the bucket has object lock, which it can get only when it
// is created. openLock never changes an existing bucket.
func (l *Lease) openLock(ctx context.Context, made bool) error {
	other := l.opts.LockBucket
	lock, err := l.store.ObjectLock(ctx, l.bucket)
	switch {
	case err != nil:
		return fmt.Errorf("get the object lock of bucket %s: %w", l.bucket, err)
	case lock.Default != "":
		// The marker and the objects of a run that is killed would stay too.
		return fmt.Errorf("bucket %s locks every new object by default (in %s mode), so warp could not remove its objects: name another bucket with --bucket",
			l.bucket, lock.Default)
	case lock.Enabled:
		return nil
	case made:
		return fmt.Errorf("this store does not support object lock: it created bucket %s without it", l.bucket)
	case other == "" || other == l.bucket:
		return fmt.Errorf("bucket %s has no object lock, which only a new bucket can get: name a bucket that does not exist with --bucket, and warp creates it with object lock", l.bucket)
	}
	l.progress.Warn(fmt.Sprintf("bucket %s has no object lock, so this run works in bucket %s", l.bucket, other))
	l.bucket, l.own.bucket = other, other
	if made, err = l.openBucket(ctx); err != nil {
		return err
	}
	return l.openLock(ctx, made)
}

// RemoveBucket removes an empty bucket that warp made. If the bucket is not empty, RemoveBucket returns the number of its
// objects, without the markers of runs.
func RemoveBucket(ctx context.Context, c *store.Client, bucket string) (removed bool, objects int64, err error) {
	err = c.List(ctx, store.List{Bucket: bucket}, func() { objects = 0 }, func(o store.Object) bool {
		if !IsMarker(o.Key) {
			objects++
		}
		return true
	})
	if err != nil {
		return false, 0, fmt.Errorf("list the objects in bucket %s: %w", bucket, err)
	}
	if objects > 0 {
		return false, objects, nil
	}
	if removed, err = c.RemoveBucket(ctx, bucket); err != nil {
		err = fmt.Errorf("remove bucket %s: %w", bucket, err)
	}
	return removed, 0, err
}
