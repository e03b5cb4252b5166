package lease

import (
	"context"
	"fmt"
	"strings"
	"time"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// loaderNames says which names of aisloader's kind are a run's own. Counted names have no check code, so that anybody
// may have given the same name to an object. The run is known to have written one only if nobody had such names when
// it began, if it has counted that far, and if the object was last written while it ran.
type loaderNames struct {
	Bits  int       `json:"bits,omitempty"`
	ID    uint64    `json:"id,omitempty,string"`
	Count uint64    `json:"count,omitempty,string"` // the first names, which the run may have used
	Since time.Time `json:"since,omitzero"`         // by the store's clock
	// Used says that the store shows when an object was last used, and not when it was written.
	Used  bool      `json:"used,omitempty"`
	until time.Time // when the run can have written last; zero = it has not ended
}

func newLoaderNames(o *Options) *loaderNames {
	if !o.Layout.Loader {
		return nil
	}
	return &loaderNames{Bits: o.Layout.Counts.Bits, ID: o.Layout.Counts.ID, Used: o.TimesOfUse}
}

func (n *loaderNames) counts() generator.LoaderCounts {
	return generator.LoaderCounts{Bits: n.Bits, ID: n.ID}
}

// valid reports whether a run can have written this.
func (n *loaderNames) valid() bool {
	return n.Bits >= 0 && n.Bits <= generator.MaxLoaderBits && n.ID>>n.Bits == 0
}

// counted reports whether the names are counted as aisloader counts them.
func (m *marker) counted() bool { return m.Loader != nil && !m.Random }

// sameKind reports whether both runs with the same prefix can have the same names.
func (m *marker) sameKind(o *marker) bool {
	if m.Loader == nil && o.Loader == nil {
		return true
	}
	return m.overlapsLoader(o)
}

// overlapsLoader is overlaps where one of the two has names of aisloader's kind. Other names have the run in front of
// them, and names at random have the seed in them.
func (m *marker) overlapsLoader(o *marker) bool {
	if m.Loader == nil || o.Loader == nil || m.Random != o.Random {
		return false
	}
	if !strings.HasPrefix(m.Prefix, o.Prefix) && !strings.HasPrefix(o.Prefix, m.Prefix) {
		return false
	}
	if m.Random {
		return m.Seed == o.Seed
	}
	return m.Loader.counts().Overlap(o.Loader.counts())
}

// claim notes that the names were found to be free, at a time by the store's clock.
func (m *marker) claim(now time.Time) {
	m.Claimed = true
	if m.Loader != nil {
		m.Loader.Since = now.Truncate(time.Second) // stores may tell times to the second
	}
}

// newFoundMarker dates a marker that was read.
func newFoundMarker(m *marker, modified, now time.Time) foundMarker {
	if m.Loader != nil {
		m.Loader.until = modified.Truncate(time.Second).Add(time.Second)
		if !m.Ended {
			m.Loader.until = m.Loader.until.Add(time.Duration(m.LeaseS * float64(time.Second)))
		}
	}
	return foundMarker{marker: *m, age: now.Sub(modified)}
}

// mayName reports whether the run may have given that name to an object.
func (m *marker) mayName(names *generator.Names, key string) bool {
	if !m.counted() {
		return names.Owns(key)
	}
	_, n, ok := names.Parse(key)
	return ok && n < m.Loader.Count
}

// wrote reports whether the run wrote an object, as far as a listing shows.
func (m *marker) wrote(names *generator.Names, o *store.Object) bool {
	if !m.mayName(names, o.Key) || !m.counted() {
		return m.mayName(names, o.Key)
	}
	n := m.Loader
	return !o.LastModified.Before(n.Since) && (n.Used || n.until.IsZero() || o.LastModified.Before(n.until))
}

// checkLoaderNamesFree makes sure that no upload of this run can hit an object that is not warp's.
func (l *Lease) checkLoaderNamesFree(ctx context.Context, others []foundMarker) error {
	own := &l.own.marker
	if !own.counted() {
		return nil // nobody else makes names with such a check code
	}
	names := own.names()
	var wrote []func(*store.Object) bool
	for i := range others {
		if m := &others[i].marker; m.counted() && m.kept() {
			theirs := m.names()
			wrote = append(wrote, func(o *store.Object) bool { return m.wrote(theirs, o) })
		}
	}
	var found string
	list := store.List{Bucket: l.bucket, Prefix: own.Prefix, MaxKeys: l.opts.Batch}
	err := l.store.List(ctx, list, func() { found = "" }, func(o store.Object) bool {
		if !names.Owns(o.Key) {
			return true
		}
		for _, theirs := range wrote {
			if theirs(&o) {
				return true
			}
		}
		found = o.Key
		return false
	})
	if err != nil {
		return fmt.Errorf("look for objects that this run could overwrite: %w", err)
	}
	if found != "" {
		return fmt.Errorf("%s exists in bucket %s, no run of warp wrote it, and this run could overwrite it: use another -subdir or -bucket, or random names", found, l.bucket)
	}
	return nil
}

// Reserve makes the first n counted names the run's own. It has to succeed before an object gets one of them.
func (l *Lease) Reserve(ctx context.Context, n uint64) error {
	return l.changeOwn(ctx, func(m *marker) { m.Loader.Count = max(m.Loader.Count, n) })
}
