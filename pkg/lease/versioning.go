package lease

import (
	"context"
	"fmt"
	"time"
)

// enableVersioning turns on the versioning of the bucket, if this run or an earlier one
// has made the bucket. Release suspends it.
func (l *Lease) enableVersioning(ctx context.Context, made bool) error {
	state, err := l.store.Versioning(ctx, l.bucket)
	if err != nil {
		return fmt.Errorf("get the versioning of bucket %s: %w", l.bucket, err)
	}
	if state == "Enabled" {
		return l.shareVersioning(ctx)
	}
	if !made && !l.store.MadeByWarp(ctx, l.bucket) {
		return fmt.Errorf("bucket %s is not versioned, and warp did not make it: turn versioning on yourself, or name another bucket with --bucket", l.bucket)
	}
	// First the marker, so that a later run suspends it if this one cannot.
	if err := l.changeOwn(ctx, func(m *marker) { m.Suspend = true }); err != nil {
		return err
	}
	if err := l.store.SetVersioning(ctx, l.bucket, true); err != nil {
		_ = l.own.change(ctx, func(m *marker) { m.Suspend = false }) // Release has nothing to suspend
		return fmt.Errorf("this store does not support versions: turn on versioning of bucket %s: %w", l.bucket, err)
	}
	return nil
}

// shareVersioning marks this run as one that needs the versioning which another run
// turned on.
func (l *Lease) shareVersioning(ctx context.Context) error {
	others, _, err := l.otherMarkers(ctx, &l.own.marker, time.Time{})
	if err != nil {
		return err
	}
	for _, m := range others {
		if m.Suspend && l.store.MadeByWarp(ctx, l.bucket) {
			return l.own.change(ctx, func(m *marker) { m.Suspend = true })
		}
	}
	return nil
}

// suspendVersioning suspends the versioning that warp turned on, unless another run
// needs it, which then suspends it at its end.
func (l *Lease) suspendVersioning(ctx context.Context, m *marker) error {
	if !m.Suspend {
		return nil
	}
	return retry(ctx, func() error {
		others, _, err := l.otherMarkers(ctx, m, time.Time{})
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.Suspend && o.Run != m.Run && !o.kept() {
				return nil
			}
		}
		if err := l.store.SetVersioning(ctx, l.bucket, false); err != nil {
			return fmt.Errorf("suspend the versioning that warp turned on: %w", err)
		}
		return nil
	})
}
