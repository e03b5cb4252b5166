package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"warp/pkg/generator"
	"warp/pkg/s3"
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
	Seed      uint64  `json:"seed,string"`
	LeaseS    float64 `json:"lease_s"` // alive for this long after the marker was last written
	Keep      bool    `json:"keep,omitempty"`
}

func (m *marker) key() string { return markerPrefix + m.Run + ".json" }

func (m *marker) names() *generator.Names {
	return generator.NewNames(m.Prefix, m.Seed, m.NoPrefix)
}

// foundMarker is a marker in the bucket and its age by the store's clock, which
// is the only clock that all clients of a bucket share.
type foundMarker struct {
	marker
	age time.Duration
}

func (f *foundMarker) expired() bool { return f.age.Seconds() > f.LeaseS }

// A lease keeps a run's marker fresh.
type lease struct {
	marker marker
	client *s3.Client
	bucket string
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	written time.Time // when the marker was last renewed
}

// takeLease marks the run's prefix as its own and removes what dead runs left.
func (r *Runner) takeLease(ctx context.Context, prefix string) error {
	o := &r.Options
	l := &lease{client: r.Client, bucket: o.Bucket, marker: marker{
		Warp: o.Warp, Run: o.RunID, Benchmark: o.Benchmark, Prefix: prefix, NoPrefix: o.NoPrefix,
		Seed: o.Seed, LeaseS: o.Lease.Seconds(), Keep: o.KeepData || o.NoClear,
	}}
	modified, err := l.write(ctx)
	if err != nil {
		return fmt.Errorf("write this run's marker to bucket %s: %w", o.Bucket, err)
	}
	r.lease = l
	l.renewInBackground()
	others, err := r.otherMarkers(ctx, modified)
	if err != nil {
		return err
	}
	for _, m := range others {
		if err := r.meet(ctx, m); err != nil {
			return err
		}
	}
	return r.refuseForeign(ctx, prefix, others)
}

// meet deals with the marker of another run.
func (r *Runner) meet(ctx context.Context, m foundMarker) error {
	same := m.Prefix == r.lease.marker.Prefix
	switch {
	case same && !m.Keep && !m.expired():
		return fmt.Errorf("run %s uses the same names at this moment: use another --seed or --prefix, or wait for it to end", m.Run)
	case same && m.Keep && !r.lease.marker.Keep:
		return fmt.Errorf("run %s kept objects under these names: use another --seed, or --keep-data to write them again and keep them", m.Run)
	case m.Keep || !m.expired() || r.Options.NoClear:
		return nil
	}
	r.Progress.Warn(fmt.Sprintf("run %s ended without cleaning up; removing what it left", m.Run))
	if err := r.removeRun(ctx, &m.marker); err != nil {
		return fmt.Errorf("remove what run %s left: %w", m.Run, err)
	}
	return nil
}

// otherMarkers reads the markers of all other runs in the bucket. Ages count
// from now, the time at which this run's own marker was written.
func (r *Runner) otherMarkers(ctx context.Context, now time.Time) ([]foundMarker, error) {
	var objects []s3.Object
	err := r.Client.List(ctx, s3.List{Bucket: r.Options.Bucket, Prefix: markerPrefix}, func() { objects = nil }, func(o s3.Object) bool {
		if o.Key == r.lease.marker.key() {
			now = o.LastModified // as exact as the others' times are
		} else if strings.HasSuffix(o.Key, ".json") {
			objects = append(objects, o)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("look for the markers of other runs: %w", err)
	}
	var found []foundMarker
	for _, o := range objects {
		data, err := r.Client.ReadSmall(ctx, o.Ref)
		if s3.CodeOf(err) == "NoSuchKey" {
			continue // that run has just ended
		}
		if err != nil {
			return nil, fmt.Errorf("read marker %s: %w", o.Key, err)
		}
		var m marker
		// What is no marker of ours is a foreign object that happens to be here.
		if json.Unmarshal(data, &m) != nil || m.Run == "" || m.key() != o.Key || m.Prefix == "" {
			continue
		}
		found = append(found, foundMarker{marker: m, age: now.Sub(o.LastModified)})
	}
	return found, nil
}

// refuseForeign makes sure that no upload of this run can hit an object that
// is not warp's.
func (r *Runner) refuseForeign(ctx context.Context, prefix string, others []foundMarker) error {
	for _, m := range others {
		if m.Prefix == prefix && m.Keep {
			return nil // they are warp's, and stay
		}
	}
	var there string
	err := r.Client.List(ctx, s3.List{Bucket: r.Options.Bucket, Prefix: prefix, MaxKeys: 1}, func() { there = "" }, func(o s3.Object) bool {
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
	data, err := json.Marshal(&l.marker)
	if err != nil {
		return time.Time{}, err
	}
	modified, err := l.client.WriteSmall(ctx, s3.Ref{Bucket: l.bucket, Key: l.marker.key()}, data)
	if err == nil {
		l.mu.Lock()
		l.written = time.Now()
		l.mu.Unlock()
	}
	return modified, err
}

// renewInBackground rewrites the marker three times per lease, so that one
// renewal may fail without the run counting as dead.
func (l *lease) renewInBackground() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	every := time.Duration(l.marker.LeaseS * float64(time.Second) / 3)
	l.done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				attempt, cancel := context.WithTimeout(ctx, every)
				_, _ = l.write(attempt) // lost says so when it matters
				cancel()
			}
		}
	})
}

// lost says whether the lease ran out because the store took no renewal.
func (l *lease) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.written).Seconds() > l.marker.LeaseS
}

func (l *lease) stopRenewing() {
	l.stop()
	l.done.Wait()
}
