package lease

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/store"
)

// hasVersions reports whether clean-up must list versions. If the store does not say whether the
// bucket has any, or these credentials may not ask, it lists them if it can.
func (l *Lease) hasVersions(ctx context.Context) (bool, error) {
	state, err := l.store.Versioning(ctx, l.bucket)
	silent := "this store does not say"
	if store.CodeOf(err) == store.CodeDenied {
		state, err, silent = store.VersioningUnknown, nil, "these credentials may not ask"
	}
	if err != nil {
		return false, fmt.Errorf("get the versioning of bucket %s: %w", l.bucket, err)
	}
	if state == "" {
		return false, nil
	}
	lists, err := l.listsVersions(ctx)
	known := state != store.VersioningUnknown
	if !known && (store.IsUnsupported(err) || store.CodeOf(err) == store.CodeDenied) {
		lists, err = false, nil
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("list the versions of bucket %s: %w", l.bucket, err)
	case !known:
		l.warnUnknown(silent, lists)
	}
	return lists, nil
}

// listsVersions reports whether the store lists versions. It asks once, and again while the bucket
// is not known to contain anything, which the answer depends on.
func (l *Lease) listsVersions(ctx context.Context) (bool, error) {
	if l.lists != nil {
		return *l.lists, nil
	}
	lists, err := l.store.ListsVersions(ctx, l.bucket)
	if err == nil && !l.own.unwritten() {
		l.lists = &lists
	}
	return lists, err
}

// warnUnknown warns once about a bucket that may have versions.
func (l *Lease) warnUnknown(silent string, lists bool) {
	how := "clean-up removes all versions that it lists"
	if !lists {
		how = "it lists none either, so clean-up removes objects only"
	}
	l.unknown.Do(func() {
		l.progress.Warn(fmt.Sprintf("%s whether bucket %s has versions: %s", silent, l.bucket, how))
	})
}

// enableVersioning turns on the versioning of the bucket, if this run or an earlier one
// has made the bucket. Release suspends it.
func (l *Lease) enableVersioning(ctx context.Context, made bool) error {
	state, err := l.store.Versioning(ctx, l.bucket)
	if err != nil {
		return fmt.Errorf("get the versioning of bucket %s: %w", l.bucket, err)
	}
	switch state {
	case "Enabled":
		lists, err := l.listsVersions(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("list the versions of bucket %s: %w", l.bucket, err)
		case !lists:
			return fmt.Errorf("this store does not support versions: bucket %s is versioned, and the store does not list its versions", l.bucket)
		}
		return l.shareVersioning(ctx)
	case store.VersioningUnknown:
		return fmt.Errorf("this store does not say whether bucket %s is versioned, and this benchmark needs to know: use another store or benchmark", l.bucket)
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
// needs it, which then suspends it at its end. Unless m is kept, it has been removed.
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
		if m.kept() {
			return nil
		}
		// The marker is older than the versioning. While this is on, S3Mock lists no such objects.
		return l.removeMarker(ctx, m)
	})
}
