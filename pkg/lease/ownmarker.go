package lease

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"warp/pkg/store"
)

// An ownMarker writes and renews the marker of this run.
type ownMarker struct {
	marker marker
	store  *store.Client
	bucket string
	stop   func()             // ends the renewals; nil until they begin
	cancel context.CancelFunc // ends the renewal in flight
	done   sync.WaitGroup

	writing    sync.Mutex // locked to write or change the marker
	mu         sync.Mutex
	written    bool  // the marker was written at least once
	unanswered bool  // a write had no answer, and may still arrive at the store
	term       *term // how long the names belong to this run
}

// newOwnMarker returns the marker of this run, not written yet.
func (l *Lease) newOwnMarker() *ownMarker {
	o := &l.opts
	return &ownMarker{store: l.store, bucket: l.bucket, term: newTerm(o.Length), marker: marker{
		Warp: o.Warp, Run: o.Run, Benchmark: o.Benchmark, Prefix: o.Prefix,
		NoPrefix: o.Layout.NoPrefix, Shards: o.Layout.Shards, Random: o.Layout.Random, Loader: newLoaderNames(o),
		Client: o.Client, Clients: o.Clients,
		Seed: o.Seed, LeaseS: o.Length.Seconds(), Keep: o.KeepData || o.NoClear, Locked: o.Locked,
	}}
}

func (m *ownMarker) ref() store.Ref { return store.Ref{Bucket: m.bucket, Key: m.marker.key()} }

// write writes the marker, and returns when it was modified by the store's
// clock.
func (m *ownMarker) write(ctx context.Context) (time.Time, error) {
	m.writing.Lock()
	defer m.writing.Unlock()
	return m.writeLocked(ctx)
}

// change changes the marker, here and in the bucket.
func (m *ownMarker) change(ctx context.Context, edit func(*marker)) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	edit(&m.marker)
	_, err := m.writeLocked(ctx)
	return err
}

func (m *ownMarker) writeLocked(ctx context.Context) (time.Time, error) {
	if err := m.send(ctx, lateWriteGrace); err != nil {
		return time.Time{}, err
	}
	return m.store.ModifiedAt(ctx, m.ref())
}

// renew writes the marker again. An error is ignored: if renewals keep failing, the
// term ends.
func (m *ownMarker) renew(ctx context.Context, grace time.Duration) {
	m.writing.Lock()
	defer m.writing.Unlock()
	_ = m.send(ctx, grace)
}

// lateWriteGrace is how long a write of the marker without an answer may take to
// arrive. It is longer than lateUploadGrace, since a store that does not answer in
// time is busy.
const lateWriteGrace = 2 * time.Second

// send writes the marker. A write that is cut off could arrive after the marker has
// been removed, so a write in flight at the end of ctx has the grace for its answer.
func (m *ownMarker) send(ctx context.Context, grace time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := time.Now()
	if m.term.over(began) {
		return m.term.lapse() // another run may have removed the marker, or use the names
	}
	ctx, cancel := extend(ctx, grace)
	defer cancel()
	ctx, stop := m.term.limit(ctx)
	defer stop()
	data, err := json.Marshal(&m.marker)
	if err != nil {
		return err
	}
	late, err := m.store.WriteSmall(ctx, m.ref(), data)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unanswered = m.unanswered || late
	if err != nil {
		return err
	}
	m.written = true
	return m.term.renew(began, time.Now())
}

// extend returns a context that ends d after ctx.
func extend(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// mayComeBack reports whether a write without an answer may arrive after the marker
// has been removed.
func (m *ownMarker) mayComeBack() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unanswered
}

// unwritten reports whether no write of the marker has succeeded.
func (m *ownMarker) unwritten() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.written
}

// renewInBackground rewrites the marker three times per lease, so that one
// renewal may fail without the run counting as dead.
func (m *ownMarker) renewInBackground() {
	ctx, cut := context.WithCancel(context.Background())
	quit := make(chan struct{})
	m.stop, m.cancel = sync.OnceFunc(func() { close(quit) }), cut
	every := time.Duration(m.marker.LeaseS * float64(time.Second) / 3)
	m.done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				attempt, cancel := context.WithTimeout(ctx, every*2/3) // an attempt without an answer leaves time for the next
				m.renew(attempt, min(lateWriteGrace, every/6))
				cancel()
			}
		}
	})
}

// stopRenewing ends the renewals and waits for one in flight: if it were cut off, it
// could arrive later and bring back a removed marker. After the end of ctx it has only
// the grace of a late write.
func (m *ownMarker) stopRenewing(ctx context.Context) {
	if m.stop == nil {
		return
	}
	m.stop()
	defer context.AfterFunc(ctx, m.cancel)()
	m.done.Wait()
}

// close ends the renewals at once.
func (m *ownMarker) close() {
	if m.cancel != nil {
		m.cancel()
	}
	m.stopRenewing(context.Background())
}
