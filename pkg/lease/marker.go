package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// markerPrefix is the prefix of all markers, whatever --prefix says, so that a later
// run finds the leftovers of all runs.
const markerPrefix = ".warp/"

// IsMarker reports whether key is the marker of a run.
func IsMarker(key string) bool { return strings.HasPrefix(key, markerPrefix) }

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

	// Loader is set for names of aisloader's kind, directly under the prefix that a person chose.
	Loader *loaderNames `json:"loader,omitempty"`

	// Object is the only object of the run, if a person may have chosen its name.
	Object *namedObject `json:"fixed,omitempty"`

	// Claimed is set once the names were found to be free. Until then, objects with
	// these names belong to others, and this marker allows nobody to remove them.
	Claimed bool `json:"claimed,omitempty"`
	// Ended is set when a run whose objects stay has ended, so that nobody has to
	// wait for its lease to expire.
	Ended bool `json:"ended,omitempty"`
	// Suspend says that warp turned on the versioning of the bucket. The last run that
	// needs it suspends it.
	Suspend bool `json:"suspend,omitempty"`
	// Locked says that the objects may be under a retention in governance mode, which
	// their removal has to bypass.
	Locked bool `json:"locked,omitempty"`
}

func (m *marker) key() string { return markerPrefix + m.Run + ".json" }

func (m *marker) names() *generator.Names {
	layout := generator.Layout{NoPrefix: m.NoPrefix, Shards: m.Shards, Random: m.Random}
	if m.Loader != nil {
		layout.Loader, layout.Counts = true, m.Loader.counts()
	}
	return generator.NewNames(m.Prefix, m.Seed, layout)
}

// valid reports whether m, the content of the object at key, can be a marker of warp.
func (m *marker) valid(key string) bool {
	return m.Run != "" && m.key() == key && m.LeaseS > 0 && (m.Loader == nil || m.Loader.valid()) &&
		(m.Loader != nil || strings.HasSuffix(m.Prefix, generator.ClientPrefix(m.Seed, m.Client, m.Clients)))
}

// overlaps reports whether names of one run can be below the prefix of the other.
// Clients of a seed have prefixes side by side, below the prefix of a single run with
// that seed.
func (m *marker) overlaps(o *marker) bool {
	if m.Loader != nil || o.Loader != nil {
		return m.overlapsLoader(o)
	}
	return strings.HasPrefix(m.Prefix, o.Prefix) || strings.HasPrefix(o.Prefix, m.Prefix)
}

// kept reports whether the marker's objects are to stay for good.
func (m *marker) kept() bool { return m.Keep && m.Claimed }

// ownedByOther reports whether the objects that m names belong to another run.
func (m *marker) ownedByOther(others []foundMarker) bool {
	return slices.ContainsFunc(others, func(o foundMarker) bool { return o.Run != m.Run && o.owns(m) })
}

// A foundMarker is a marker in the bucket. Its age is by the store's clock, the only
// clock that all clients of a bucket share.
type foundMarker struct {
	marker
	age time.Duration
}

func (f *foundMarker) expired() bool { return f.age.Seconds() > f.LeaseS }

// owns reports whether objects named by m belong to f's run.
func (f *foundMarker) owns(m *marker) bool {
	return f.Prefix == m.Prefix && f.sameKind(m) && f.Claimed && (f.Keep || !f.expired())
}

// maxMarkerSize is far more than any marker needs.
const maxMarkerSize = 64 << 10

// otherMarkers reads the markers of all runs in the bucket except own. Their ages
// count from now, the time of the last write of own by the store's clock.
func (l *Lease) otherMarkers(ctx context.Context, own *marker, written time.Time) (found []foundMarker, now time.Time, err error) {
	now = written
	var objects []store.Object
	err = l.store.List(ctx, store.List{Bucket: l.bucket, Prefix: markerPrefix}, func() { objects = nil }, func(o store.Object) bool {
		if o.Key == own.key() {
			now = o.LastModified // as exact as the times of the others
		} else if strings.HasSuffix(o.Key, ".json") && o.Size <= maxMarkerSize {
			objects = append(objects, o)
		}
		return true
	})
	if err != nil {
		return nil, now, fmt.Errorf("list the markers of other runs: %w", err)
	}
	for _, o := range objects {
		m, err := l.readMarker(ctx, o.Ref)
		if err != nil {
			return nil, now, err
		}
		if m != nil {
			found = append(found, foundMarker{marker: *m, age: now.Sub(o.LastModified)})
		}
	}
	return found, now, nil
}

// readMarker returns nil if the object is not a marker of warp: a foreign object,
// whether or not it can be read.
func (l *Lease) readMarker(ctx context.Context, ref store.Ref) (*marker, error) {
	data, err := l.store.ReadSmall(ctx, ref)
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
