package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// loaderNames says which names of aisloader's kind are a run's own. Counted names have no check code, so anybody may give
// the same name to an object, even while the run uploads. Therefore each object with such a name carries the run's id in
// its metadata, like a [namedObject], and an object without it is never removed.
type loaderNames struct {
	Bits int    `json:"bits,omitempty"`
	ID   uint64 `json:"id,omitempty,string"`
}

func newLoaderNames(o *Options) *loaderNames {
	if !o.Layout.Loader {
		return nil
	}
	return &loaderNames{Bits: o.Layout.Counts.Bits, ID: o.Layout.Counts.ID}
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

// overlapsLoader is overlaps if one of the two has names of aisloader's kind. Other names begin with the run, and random
// names contain the seed.
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

// UploadHeaders returns headers that name the run, for uploads whose names do not.
func (l *Lease) UploadHeaders() []store.Header {
	m := &l.own.marker
	if !m.counted() {
		return nil
	}
	return []store.Header{{Name: "x-amz-meta-" + runMetadata, Value: m.Run}}
}

// mayHaveWritten reports whether the run may have written an object, as far as a listing shows.
func (m *marker) mayHaveWritten(names *generator.Names, o *store.Object) bool {
	return names.Owns(o.Key) && !(m.counted() && o.DeleteMarker) // warp deletes no object that has a counted name
}

// A confirmation returns the objects that a run wrote.
type confirmation func(context.Context, []store.Object) ([]store.Object, error)

// confirmationFor returns the confirmation for objects with names of the run that m marks. A check code in the name is
// enough; without one, the metadata decide.
func (l *Lease) confirmationFor(m *marker) confirmation {
	if !m.counted() {
		return func(_ context.Context, objects []store.Object) ([]store.Object, error) { return objects, nil }
	}
	warn := sync.OnceFunc(func() {
		l.progress.Warn(fmt.Sprintf("bucket %s has objects with names of run %s whose metadata name no run, so they stay", l.bucket, m.Run))
	})
	return func(ctx context.Context, objects []store.Object) ([]store.Object, error) {
		writers, err := l.writersOf(ctx, objects)
		if err != nil {
			return nil, err
		}
		var own []store.Object
		for i, run := range writers {
			switch run {
			case m.Run:
				own = append(own, objects[i])
			case unknownWriter:
				warn()
			}
		}
		return own, nil
	}
}

// Values for a writer that is not a run.
const (
	unknownWriter = ""
	gone          = "/" // the object does not exist any more
)

// writersOf returns the run that wrote each object, according to its metadata.
func (l *Lease) writersOf(ctx context.Context, objects []store.Object) ([]string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	writers := make([]string, len(objects))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range l.requests() {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(objects) {
					return
				}
				run, err := l.store.Metadata(ctx, objects[i].Ref, runMetadata)
				switch {
				case store.CodeOf(err) == store.CodeNoKey:
					run = gone
				case err != nil:
					cancel(fmt.Errorf("find the owner of %s: %w", objects[i].Key, err))
				}
				writers[i] = run
			}
		})
	}
	wg.Wait()
	return writers, context.Cause(ctx)
}

// checkLoaderNamesFree makes sure that no upload of this run can hit an object that is not warp's.
func (l *Lease) checkLoaderNamesFree(ctx context.Context, others []foundMarker) error {
	own := &l.own.marker
	if !own.counted() {
		return nil // random names have a check code
	}
	kept := map[string]bool{gone: true}
	for i := range others {
		if m := &others[i].marker; m.kept() {
			kept[m.Run] = true
		}
	}
	names := own.names()
	var found string
	list := store.List{Bucket: l.bucket, Prefix: own.Prefix, MaxKeys: l.opts.Batch}
	err := l.eachBatch(ctx, list, func() {}, func(o store.Object) (ours, more bool) { return names.Owns(o.Key), true }, func(objects []store.Object) error {
		if len(kept) == 1 { // no run has kept objects
			found = objects[0].Key
			return errFound
		}
		writers, err := l.writersOf(ctx, objects)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(writers, func(run string) bool { return !kept[run] }); i >= 0 {
			found = objects[i].Key
			return errFound
		}
		return nil
	})
	if found != "" {
		return fmt.Errorf("%s exists in bucket %s, no run of warp wrote it, and this run could overwrite it: use another -subdir or -bucket, or random names", found, l.bucket)
	}
	if err != nil {
		return fmt.Errorf("list objects that this run could overwrite: %w", err)
	}
	return nil
}

// errFound ends a listing.
var errFound = errors.New("found")
