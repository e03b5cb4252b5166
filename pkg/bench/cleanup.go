package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"warp/pkg/s3"
)

// deleteBatch is as many objects as one request may delete.
const deleteBatch = 1000

// Cleanup removes what the run wrote, unless it is to be kept. It may be
// called whether or not Run came far, and does nothing the second time.
func (r *Runner) Cleanup(ctx context.Context) error {
	if r.lease == nil {
		return nil
	}
	l := r.lease
	r.lease = nil
	l.stopRenewing()
	if l.marker.Keep {
		return nil
	}
	if err := r.removeRun(ctx, &l.marker); err != nil {
		return fmt.Errorf("clean up: %w; a later run removes what is left once the lease has expired", err)
	}
	if r.suspendAt {
		if err := r.Client.SetVersioning(ctx, r.Options.Bucket, false); err != nil {
			return fmt.Errorf("clean up: suspend the versioning that this run turned on: %w", err)
		}
	}
	return nil
}

// removeRun deletes the objects of the run that m marks, then the marker.
// Names are checked one by one: an object that somebody else put under the
// run's prefix stays.
func (r *Runner) removeRun(ctx context.Context, m *marker) error {
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return err
	}
	names := m.names()
	versions := state != ""
	r.Progress.Begin("Cleaning up", 0)
	defer r.Progress.End()
	if err := r.removeAll(ctx, m.Prefix, versions, names.Owns); err != nil {
		return err
	}
	return r.removeAll(ctx, m.key(), versions, func(key string) bool { return key == m.key() })
}

// clearBucket deletes everything in the bucket, whoever it belongs to.
func (r *Runner) clearBucket(ctx context.Context) error {
	r.Progress.Begin("Clearing the bucket", 0)
	defer r.Progress.End()
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err == nil {
		err = r.removeAll(ctx, "", state != "", func(string) bool { return true })
	}
	if err != nil {
		return fmt.Errorf("clear bucket %s: %w", r.Options.Bucket, err)
	}
	return nil
}

// removeAll deletes what lies under prefix and is ours, all versions of it.
func (r *Runner) removeAll(ctx context.Context, prefix string, versions bool, ours func(key string) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []s3.Ref)
	var wg sync.WaitGroup
	for range max(1, min(r.Options.Concurrency, 16)) {
		wg.Go(func() {
			for b := range batches {
				if err := r.Client.Delete(ctx, b); err != nil {
					cancel(err)
				}
				r.Progress.Add(int64(len(b)))
			}
		})
	}
	err := r.sendBatches(ctx, s3.List{Bucket: r.Options.Bucket, Prefix: prefix, Versions: versions}, ours, batches)
	close(batches)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (r *Runner) sendBatches(ctx context.Context, l s3.List, ours func(string) bool, out chan<- []s3.Ref) error {
	var batch []s3.Ref
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
	err := r.Client.List(ctx, l, begin, func(o s3.Object) bool {
		if !ours(o.Key) {
			return true
		}
		batch = append(batch, o.Ref)
		return len(batch) < deleteBatch || send()
	})
	if err == nil && len(batch) > 0 {
		send()
	}
	return err
}

// isMarker says whether key is a marker of some run rather than an object to
// benchmark with.
func isMarker(key string) bool { return strings.HasPrefix(key, markerPrefix) }
