// Package lease protects the objects of a bucket that are not warp's, or that
// belong to another run.
//
// A run writes a marker into the bucket before anything else: an object that
// says which names are the run's own and until when it counts as alive. The
// marker is renewed in the background. A later run refuses names of another run,
// and removes the leftovers of dead runs. An object is deleted only if a marker
// and the object's own name, or its own metadata, say that a run of warp wrote it.
package lease

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// Options describe the run that acquires a lease.
type Options struct {
	Store     *store.Client
	Bucket    string
	Run       string // the run's id, after which its marker is named
	Benchmark string
	Warp      string // version
	Prefix    string // of all names of the run
	Layout    generator.Layout
	Seed      uint64
	// Clients is the number of clients that share the seed, and Client the number of
	// this one, from 0. 0 clients = this run is the only one.
	Client, Clients int
	// ObjectKey is the key of the only object of the run, or "". Unless a person has
	// chosen it, the run uses a different key if another run has this one.
	ObjectKey       string
	ObjectKeyChosen bool
	KeepData        bool          // leave this run's objects
	NoClear         bool          // leave this run's and all earlier runs' objects
	ReadOnly        bool          // the bucket must exist; Open acquires nothing
	ClearBucket     bool          // Open empties the bucket first, also of foreign objects
	Versions        bool          // Open turns on versioning, see enableVersioning
	Locked          bool          // the bucket needs object lock, and objects may be under a retention in governance mode
	LockBucket      string        // with Locked: the bucket to use if Bucket exists without object lock; "" = refuse
	Length          time.Duration // of the lease, unless it is renewed
	Concurrency     int           // max requests at a time that delete
	Batch           int           // max objects that one request lists or deletes; 0 = as many as the store allows
	Progress        Progress      // nil = progress is not reported
	// Written returns how many names the run has used, and how many requests it has sent; nil = unknown.
	Written func() (names, requests int64)
}

// Progress receives the progress of a clean-up.
type Progress interface {
	Begin(title string, total int64) // total 0 = not known
	Add(n int64)
	End()
	Warn(text string)
}

type silent struct{}

func (silent) Begin(string, int64) {}
func (silent) Add(int64)           {}
func (silent) End()                {}
func (silent) Warn(string)         {}

// A Lease is the right of one run to its names in one bucket.
type Lease struct {
	opts     Options
	store    *store.Client
	bucket   string
	progress Progress

	own         *ownMarker
	mustRelease bool // the marker may be in the bucket
	acquired    bool // the run may have uploaded objects
	kept        bool // the run's objects stay

	lists       *bool        // the store lists versions; nil = not known yet
	unknown     sync.Once    // warns that the bucket may have versions
	emptied     bool         // Release has removed the run's objects
	cutOff      bool         // uploads were cut off, and may still arrive at the store
	objects     atomic.Int64 // number of deleted objects, without markers
	removed     atomic.Int64 // number of deleted objects, with markers
	interrupted atomic.Bool  // a person waits for the clean-up
}

// New returns a lease that is not acquired yet. It sends nothing.
func New(o Options) *Lease {
	if o.Progress == nil {
		o.Progress = silent{}
	}
	l := &Lease{opts: o, store: o.Store, bucket: o.Bucket, progress: o.Progress}
	l.own = l.newOwnMarker()
	return l
}

// Acquire marks the run's names as its own and removes the leftovers of dead runs. It
// fails if another run has the names. Release must follow, whether or not Acquire
// succeeds.
func (l *Lease) Acquire(ctx context.Context) error {
	l.mustRelease = true // a write that fails may have arrived
	if key := l.opts.ObjectKey; key != "" {
		l.own.marker.Object = &namedObject{Key: key}
	}
	modified, err := l.writeOwn(ctx)
	if err != nil {
		return err
	}
	l.own.renewInBackground()
	others, now, err := l.otherMarkers(ctx, &l.own.marker, modified)
	if err != nil {
		return err
	}
	for _, m := range others {
		if err := l.checkNames(&m); err != nil {
			return err
		}
	}
	for _, m := range others {
		if err := l.removeDead(ctx, &m, others, now); err != nil {
			return err
		}
	}
	if err := l.checkPrefixFree(ctx, others); err != nil {
		return err
	}
	if err := l.claimObjectKey(ctx, others); err != nil {
		return err
	}
	err = l.changeOwn(ctx, func(m *marker) { m.Claimed = true })
	l.acquired = err == nil
	return err
}

// Adopt takes over the marker of the run, which another process of that run has written and acquired. Both may renew it until
// the other one hands it over. Release must follow, whether or not Adopt succeeds.
func (l *Lease) Adopt(ctx context.Context) error {
	m, err := l.readMarker(ctx, l.own.ref())
	switch {
	case err != nil:
		return err
	case m == nil || !m.Claimed:
		return fmt.Errorf("run %s has no objects in bucket %s that could be kept", l.opts.Run, l.bucket)
	}
	l.own.marker, l.mustRelease, l.acquired = *m, true, true
	if _, err := l.writeOwn(ctx); err != nil {
		return err
	}
	l.own.renewInBackground()
	return nil
}

// HandOver ends the renewals of the marker, which another process has adopted. Release then does nothing.
func (l *Lease) HandOver(ctx context.Context) {
	l.mustRelease = false
	l.own.stopRenewing(ctx)
	l.own.close()
}

// writeOwn writes the run's marker and returns when, by the store's clock.
func (l *Lease) writeOwn(ctx context.Context) (time.Time, error) {
	modified, err := l.own.write(ctx)
	return modified, l.writeError(err)
}

// changeOwn changes the run's marker, here and in the bucket.
func (l *Lease) changeOwn(ctx context.Context, edit func(*marker)) error {
	return l.writeError(l.own.change(ctx, edit))
}

func (l *Lease) writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write this run's marker to bucket %s: %w", l.bucket, err)
}

// Lapsed returns a [LapsedError] if the lease has expired at the given time, and nil
// while the run may write.
func (l *Lease) Lapsed(now time.Time) error {
	if !l.own.term.over(now) {
		return nil
	}
	return l.own.term.lapse()
}

// OnLapse calls do when the lease expires. If it has expired, OnLapse calls do at once.
func (l *Lease) OnLapse(do func(error)) { l.own.term.onLapse(do) }

// checkNames refuses names that overlap another run's.
func (l *Lease) checkNames(m *foundMarker) error {
	if !m.overlaps(&l.own.marker) {
		return nil
	}
	switch {
	case m.kept() && m.counted(): // a run that writes its objects again owns them from then on
		return nil
	case m.kept() && !l.own.marker.Keep:
		return fmt.Errorf("run %s kept objects under these names: use another --seed, or --keep-data to write them again and keep them, or remove them with warp clean --run=%s", m.Run, m.Run)
	case m.kept():
		return nil
	case !m.expired():
		return fmt.Errorf("run %s is using the same names: use another --seed or --prefix, or wait for it to end", m.Run)
	case m.Claimed && l.opts.NoClear:
		return fmt.Errorf("run %s left objects under these names, which --noclear leaves alone: use another --seed", m.Run)
	}
	return nil
}

// removeDead removes the leftovers of the run of m, if it is dead.
func (l *Lease) removeDead(ctx context.Context, m *foundMarker, others []foundMarker, now time.Time) error {
	if m.kept() || !m.expired() || l.opts.NoClear {
		return nil
	}
	l.progress.Warn(fmt.Sprintf("run %s ended without cleaning up; removing its leftovers", m.Run))
	err := l.removeRun(ctx, &m.marker, others, now)
	if err != nil && (ctx.Err() != nil || m.overlaps(&l.own.marker)) {
		return fmt.Errorf("remove leftovers of run %s: %w", m.Run, err)
	}
	if err != nil { // they do not disturb this run, and the next one tries again
		l.progress.Warn(fmt.Sprintf("leftovers of run %s remain: %v", m.Run, err))
	}
	return nil
}

// checkPrefixFree makes sure that no upload of this run can hit an object that
// is not warp's, be it an old version or hidden by a delete marker.
func (l *Lease) checkPrefixFree(ctx context.Context, others []foundMarker) error {
	prefix := l.own.marker.Prefix
	if l.own.marker.Loader != nil {
		return l.checkLoaderNamesFree(ctx, others)
	}
	for _, m := range others {
		if m.Prefix == prefix && m.kept() {
			return nil // the objects are warp's, and stay
		}
	}
	versions, err := l.hasVersions(ctx)
	if err != nil {
		return err
	}
	var found string
	list := store.List{Bucket: l.bucket, Prefix: prefix, MaxKeys: 1, Versions: versions}
	err = l.store.List(ctx, list, func() { found = "" }, func(o store.Object) bool {
		found = o.Key
		return false
	})
	if err != nil {
		return fmt.Errorf("list the objects under %s: %w", prefix, err)
	}
	if found != "" {
		return fmt.Errorf("%s exists in bucket %s and belongs to no run of warp: use another --seed or --prefix", found, l.bucket)
	}
	return nil
}
