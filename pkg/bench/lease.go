package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// markerPrefix is where every run keeps its marker, whatever its --prefix is,
// so that a later run finds the leftovers of all of them.
const markerPrefix = ".warp/"

// A marker is the object that says which objects of a bucket are a run's own,
// and until when the run counts as alive.
type marker struct {
	Warp      string  `json:"warp"`
	Run       string  `json:"run"`
	Benchmark string  `json:"benchmark"`
	Prefix    string  `json:"prefix"`
	NoPrefix  bool    `json:"noprefix,omitempty"`
	Shards    int     `json:"shards,omitempty"`
	Random    bool    `json:"random,omitempty"`
	Client    int     `json:"client,omitempty"`
	Clients   int     `json:"clients,omitempty"` // that share the seed; 0 = the run is the only one
	Seed      uint64  `json:"seed,string"`
	LeaseS    float64 `json:"lease_s"` // alive for this long after the marker was last written
	Keep      bool    `json:"keep,omitempty"`

	// Fixed is the object whose name a person chose, where there is one.
	Fixed *fixedObject `json:"fixed,omitempty"`

	// Claimed is set once the names were found to be free. Until then objects
	// that have them are somebody else's, and nobody may remove them on the
	// word of this marker.
	Claimed bool `json:"claimed,omitempty"`
	// Ended is set when a run has ended whose objects stay: nobody need wait
	// then for its lease to expire to know that it is over.
	Ended bool `json:"ended,omitempty"`
	// Suspend says that warp turned the bucket's versioning on, and that this
	// run is to suspend it if it is the last one that needs it.
	Suspend bool `json:"suspend,omitempty"`
	// Locked says that the objects may be under a retention in governance mode,
	// which whoever removes them has to bypass.
	Locked bool `json:"locked,omitempty"`
}

func (m *marker) key() string { return markerPrefix + m.Run + ".json" }

func (m *marker) names() *generator.Names {
	return generator.NewNames(m.Prefix, m.Seed, generator.Layout{NoPrefix: m.NoPrefix, Shards: m.Shards, Random: m.Random})
}

// valid says whether the content of the object at key can be a marker of ours.
func (m *marker) valid(key string) bool {
	return m.Run != "" && m.key() == key && m.LeaseS > 0 &&
		strings.HasSuffix(m.Prefix, generator.ClientPrefix(m.Seed, m.Client, m.Clients))
}

// overlaps says whether names of the one can lie below the prefix of the other. Clients of one seed lie side by
// side, but below a run of that seed which is no client.
func (m *marker) overlaps(o *marker) bool {
	return strings.HasPrefix(m.Prefix, o.Prefix) || strings.HasPrefix(o.Prefix, m.Prefix)
}

// kept says whether the marker's objects are to stay for good.
func (m *marker) kept() bool { return m.Keep && m.Claimed }

// foundMarker is a marker in the bucket and its age by the store's clock, which
// is the only clock that all clients of a bucket share.
type foundMarker struct {
	marker
	age time.Duration
}

func (f *foundMarker) expired() bool { return f.age.Seconds() > f.LeaseS }

// answersFor says whether f's run is the one that objects named by m belong to.
func (f *foundMarker) answersFor(m *marker) bool {
	return f.Prefix == m.Prefix && f.Claimed && (f.Keep || !f.expired())
}

// answered says whether the objects that m names belong to another of these runs.
func (m *marker) answered(others []foundMarker) bool {
	return slices.ContainsFunc(others, func(o foundMarker) bool { return o.Run != m.Run && o.answersFor(m) })
}

// A lease keeps a run's marker fresh.
type lease struct {
	marker marker
	client *store.Client
	bucket string
	stop   func()             // ends the renewals; nil before the marker was first written
	cut    context.CancelFunc // and the one that is on its way
	done   sync.WaitGroup

	writing sync.Mutex // held while the marker is being written, and to change it
	mu      sync.Mutex
	written bool  // the marker was, at least once
	adrift  bool  // a write had no answer, and may still arrive
	term    *term // how long others leave the names alone
}

// newLease is the lease of this run's names under prefix, not yet written.
func (r *Runner) newLease(prefix string) *lease {
	o := &r.Options
	return &lease{client: r.Client, bucket: o.Bucket, term: newTerm(o.Lease), marker: marker{
		Warp: o.Warp, Run: cmp.Or(o.LeaseID, o.RunID), Benchmark: o.Benchmark, Prefix: prefix,
		NoPrefix: o.Layout.NoPrefix, Shards: o.Layout.Shards, Random: o.Layout.Random,
		Client: o.Client, Clients: o.Clients,
		Seed: o.Seed, LeaseS: o.Lease.Seconds(), Keep: o.KeepData || o.NoClear, Locked: o.Lock,
	}}
}

// takeLease marks the run's prefix as its own and removes what dead runs left.
func (r *Runner) takeLease(ctx context.Context, prefix string) error {
	o := &r.Options
	l := r.newLease(prefix)
	r.lease = l // a write that fails may have arrived, so Cleanup has to know
	r.env.lease = l
	if key := o.fixedKey(); key != "" {
		l.marker.Fixed = &fixedObject{Key: key}
	}
	modified, err := l.write(ctx)
	if err != nil {
		return fmt.Errorf("write this run's marker to bucket %s: %w", o.Bucket, err)
	}
	l.renewInBackground()
	others, now, err := r.otherMarkers(ctx, &l.marker, modified)
	if err != nil {
		return err
	}
	for _, m := range others {
		if err := r.refuseSameNames(&m); err != nil {
			return err
		}
	}
	for _, m := range others {
		if err := r.bury(ctx, &m, others, now); err != nil {
			return err
		}
	}
	if err := r.refuseForeign(ctx, prefix, others); err != nil {
		return err
	}
	if err := r.takeFixed(ctx, others); err != nil {
		return err
	}
	err = l.change(ctx, func(m *marker) { m.Claimed = true })
	if err != nil {
		return fmt.Errorf("write this run's marker to bucket %s: %w", o.Bucket, err)
	}
	return nil
}

// refuseSameNames ends a run that would write over the objects of another.
func (r *Runner) refuseSameNames(m *foundMarker) error {
	if !m.overlaps(&r.lease.marker) {
		return nil
	}
	switch {
	case m.kept() && !r.lease.marker.Keep:
		return fmt.Errorf("run %s kept objects under these names: use another --seed, or --keep-data to write them again and keep them, or remove them with warp clean --run=%s", m.Run, m.Run)
	case m.kept():
		return nil
	case !m.expired():
		return fmt.Errorf("run %s uses the same names at this moment: use another --seed or --prefix, or wait for it to end", m.Run)
	case m.Claimed && r.Options.NoClear:
		return fmt.Errorf("run %s left objects under these names, which --noclear leaves alone: use another --seed", m.Run)
	}
	return nil
}

// bury removes what the run of m left, if it is dead.
func (r *Runner) bury(ctx context.Context, m *foundMarker, others []foundMarker, now time.Time) error {
	if m.kept() || !m.expired() || r.Options.NoClear {
		return nil
	}
	r.Progress.Warn(fmt.Sprintf("run %s ended without cleaning up; removing what it left", m.Run))
	err := r.removeRun(ctx, &m.marker, others, now)
	if err != nil && (ctx.Err() != nil || m.overlaps(&r.lease.marker)) {
		return fmt.Errorf("remove what run %s left: %w", m.Run, err)
	}
	if err != nil { // in nobody's way: the next run tries again
		r.Progress.Warn(fmt.Sprintf("what run %s left is still there: %v", m.Run, err))
	}
	return nil
}

// maxMarker is far more than any marker needs.
const maxMarker = 64 << 10

// otherMarkers reads the markers of all runs in the bucket but own. Their ages
// count from now, the time at which own was written last by the store's clock.
func (r *Runner) otherMarkers(ctx context.Context, own *marker, written time.Time) (found []foundMarker, now time.Time, err error) {
	now = written
	var objects []store.Object
	err = r.Client.List(ctx, store.List{Bucket: r.Options.Bucket, Prefix: markerPrefix}, func() { objects = nil }, func(o store.Object) bool {
		if o.Key == own.key() {
			now = o.LastModified // as exact as the others' times are
		} else if strings.HasSuffix(o.Key, ".json") && o.Size <= maxMarker {
			objects = append(objects, o)
		}
		return true
	})
	if err != nil {
		return nil, now, fmt.Errorf("look for the markers of other runs: %w", err)
	}
	for _, o := range objects {
		m, err := r.readMarker(ctx, o.Ref)
		if err != nil {
			return nil, now, err
		}
		if m != nil {
			found = append(found, foundMarker{marker: *m, age: now.Sub(o.LastModified)})
		}
	}
	return found, now, nil
}

// readMarker returns nil for what is no marker of ours: a foreign object that
// happens to be here, whether or not it can be read.
func (r *Runner) readMarker(ctx context.Context, ref store.Ref) (*marker, error) {
	data, err := r.Client.ReadSmall(ctx, ref)
	if e := (*store.Error)(nil); errors.As(err, &e) && e.Status >= 400 && e.Status < 500 && !store.Repeatable(err) {
		return nil, nil // among them NoSuchKey: that run has just ended
	}
	if err != nil {
		return nil, fmt.Errorf("read marker %s: %w", ref.Key, err)
	}
	var m marker
	if json.Unmarshal(data, &m) != nil || !m.valid(ref.Key) {
		return nil, nil
	}
	return &m, nil
}

// refuseForeign makes sure that no upload of this run can hit an object that
// is not warp's, be it an old version or hidden by a delete marker.
func (r *Runner) refuseForeign(ctx context.Context, prefix string, others []foundMarker) error {
	for _, m := range others {
		if m.Prefix == prefix && m.kept() {
			return nil // they are warp's, and stay
		}
	}
	state, err := r.Client.Versioning(ctx, r.Options.Bucket)
	if err != nil {
		return fmt.Errorf("ask for the versioning of bucket %s: %w", r.Options.Bucket, err)
	}
	var there string
	l := store.List{Bucket: r.Options.Bucket, Prefix: prefix, MaxKeys: 1, Versions: state != ""}
	err = r.Client.List(ctx, l, func() { there = "" }, func(o store.Object) bool {
		there = o.Key
		return false
	})
	if err != nil {
		return fmt.Errorf("look for objects under %s: %w", prefix, err)
	}
	if there != "" {
		return fmt.Errorf("%s exists in bucket %s and no run of warp answers for it: use another --seed or --prefix", there, r.Options.Bucket)
	}
	return nil
}

func (l *lease) write(ctx context.Context) (time.Time, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.writeLocked(ctx)
}

// change changes the marker, here and in the bucket.
func (l *lease) change(ctx context.Context, edit func(*marker)) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	edit(&l.marker)
	_, err := l.writeLocked(ctx)
	return err
}

// renew writes the marker again. Nobody asks when the store did that, and if it fails for long the term is over.
func (l *lease) renew(ctx context.Context, grace time.Duration) {
	l.writing.Lock()
	defer l.writing.Unlock()
	_ = l.send(ctx, grace)
}

// writeLocked writes the marker, and returns when it was modified by the store's clock.
func (l *lease) writeLocked(ctx context.Context) (time.Time, error) {
	if err := l.send(ctx, landing); err != nil {
		return time.Time{}, err
	}
	return l.client.ModifiedAt(ctx, l.ref())
}

func (l *lease) ref() store.Ref { return store.Ref{Bucket: l.bucket, Key: l.marker.key()} }

// send writes the marker. Cut off, a write could arrive when the marker has been removed, so one that is on its
// way has a while for its answer.
func (l *lease) send(ctx context.Context, grace time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := time.Now()
	if l.term.over(began) {
		return l.term.lapse() // somebody may have removed the marker, or have the names
	}
	ctx, cancel := outlive(ctx, grace)
	defer cancel()
	ctx, stop := l.term.limit(ctx)
	defer stop()
	data, err := json.Marshal(&l.marker)
	if err != nil {
		return err
	}
	late, err := l.client.WriteSmall(ctx, l.ref(), data)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.adrift = l.adrift || late
	if err != nil {
		return err
	}
	l.written = true
	return l.term.renew(began, time.Now())
}

// outlive returns a context that ends that long after ctx.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(d, func() { cancel(context.Cause(ctx)) })
	})
	return late, func() {
		stop()
		cancel(nil)
	}
}

// mayComeBack says whether a write that had no answer may arrive after the marker has been removed.
func (l *lease) mayComeBack() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.adrift
}

// renewInBackground rewrites the marker three times per lease, so that one
// renewal may fail without the run counting as dead.
func (l *lease) renewInBackground() {
	ctx, cut := context.WithCancel(context.Background())
	quit := make(chan struct{})
	l.stop, l.cut = sync.OnceFunc(func() { close(quit) }), cut
	every := time.Duration(l.marker.LeaseS * float64(time.Second) / 3)
	l.done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				attempt, cancel := context.WithTimeout(ctx, every*2/3) // one without an answer leaves time for the next
				l.renew(attempt, min(landing, every/6))
				cancel()
			}
		}
	})
}

// unwritten says whether no write of the marker has succeeded.
func (l *lease) unwritten() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.written
}

// stopRenewing waits for a renewal that is on its way: cut off, it could still
// arrive, and bring back a marker that has been removed. After the end of ctx
// it has as long as a late write has.
func (l *lease) stopRenewing(ctx context.Context) {
	if l.stop == nil {
		return
	}
	l.stop()
	defer context.AfterFunc(ctx, l.cut)()
	l.done.Wait()
}

// drop ends the renewals at once.
func (l *lease) drop() {
	if l.cut != nil {
		l.cut()
	}
	l.stopRenewing(context.Background())
}

// Bury removes what the runs of the given names left, other machines' shares of
// the same run, as soon as their leases have run out. Those that clean up
// themselves meanwhile are none of its business. It comes after Cleanup.
func (r *Runner) Bury(ctx context.Context, names []string) error {
	if r.Options.ReadOnly {
		return nil // nobody wrote anything
	}
	for _, place := range r.everywhere() {
		if err := place.buryThere(ctx, names); err != nil {
			return err
		}
	}
	return nil
}

// buryThere does it in the runner's own bucket, under a marker that tells the
// store's time and has no names.
func (r *Runner) buryThere(ctx context.Context, names []string) (err error) {
	l := r.newLease(r.Options.FullPrefix())
	defer func() {
		work, stop := r.hurry(ctx)
		defer stop()
		if removed := r.withdraw(work, l); err == nil && removed != nil {
			err = fmt.Errorf("remove what lost clients left: %w", removed)
		}
	}()
	for {
		written, err := l.write(ctx)
		if err != nil {
			return fmt.Errorf("remove what lost clients left: %w", err)
		}
		others, now, err := r.otherMarkers(ctx, &l.marker, written)
		if err != nil {
			return fmt.Errorf("remove what lost clients left: %w", err)
		}
		alive := 0
		for _, m := range others {
			switch {
			case !slices.Contains(names, m.Run) || m.kept():
			case !m.expired():
				alive++
			default:
				if err := r.removeRun(ctx, &m.marker, others, now); err != nil {
					return fmt.Errorf("remove what lost client %s left: %w", m.Run, err)
				}
			}
		}
		if alive == 0 {
			return nil
		}
		if !pause(ctx, time.Second) {
			return context.Cause(ctx)
		}
	}
}
