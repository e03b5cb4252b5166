package bench

import (
	"context"
	"fmt"
)

// openLock makes sure that the bucket of the run has object lock, which it can get
// only when it is created. openLock never changes an existing bucket.
func (r *Runner) openLock(ctx context.Context, made bool) error {
	o := &r.Options
	lock, err := r.Client.ObjectLock(ctx, o.Bucket)
	switch {
	case err != nil:
		return fmt.Errorf("ask for the object lock of bucket %s: %w", o.Bucket, err)
	case lock.Default != "":
		// The marker and the objects of a run that is killed would stay too.
		return fmt.Errorf("bucket %s locks every object for some time by itself (in %s mode), so warp could not remove what it writes: name another with --bucket",
			o.Bucket, lock.Default)
	case lock.Enabled:
		return nil
	case made:
		return fmt.Errorf("this store does not support object lock: it made bucket %s without it, although asked to", o.Bucket)
	case o.LockBucket == "" || o.LockBucket == o.Bucket:
		return fmt.Errorf("bucket %s has no object lock, which a bucket can only be created with: name one that does not exist with --bucket, and warp creates it with object lock", o.Bucket)
	}
	r.Progress.Warn(fmt.Sprintf("bucket %s has no object lock, so this run works in bucket %s", o.Bucket, o.LockBucket))
	o.Bucket, r.env.Bucket = o.LockBucket, o.LockBucket
	if made, err = r.openBucket(ctx); err != nil {
		return err
	}
	return r.openLock(ctx, made)
}
