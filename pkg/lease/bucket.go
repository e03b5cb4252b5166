package lease

import (
	"context"
	"fmt"

	"warp/pkg/store"
)

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
