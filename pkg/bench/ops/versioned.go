package ops

import (
	"context"
	"fmt"
	"time"

	"warp/pkg/bench"
	"warp/pkg/generator"

	"warp/pkg/store"
)

// Versioned performs several operations on the versions of a fixed set of objects.
// Uploads add a version; the other requests name one.
type Versioned struct{ Mixed }

// Prepare uploads a first version of each object.
func (v *Versioned) Prepare(ctx context.Context, e *bench.Env) error {
	if err := tryVersions(ctx, e); err != nil {
		return err
	}
	v.versions = true
	if err := v.Mixed.Prepare(ctx, e); err != nil {
		return err
	}
	keys := make([][]string, len(v.shared)) // by bucket
	var text generator.Arena
	for i := range v.shared {
		for _, e := range v.shared[i].entries {
			keys[i] = append(keys[i], v.shared[i].object(e, &text).Key)
		}
	}
	v.name = func(w *bench.Worker) string { return keys[w.Bucket][w.Rand.IntN(len(keys[w.Bucket]))] }
	return nil
}

// tryVersions makes sure that the store keeps all versions of an object.
func tryVersions(ctx context.Context, e *bench.Env) error {
	const versions = bench.Feature("versions of objects")
	var made []store.Object
	send := func(w *bench.Worker) error {
		key := w.NextKey()
		made = nil
		for size := range int64(2) {
			o, err := w.Upload(ctx, key, size+1)
			if err != nil {
				return err
			}
			made = append(made, o)
		}
		return nil
	}
	return versions.Try(ctx, e, send, func(h *store.Host) error {
		var refs []store.Ref
		for _, o := range made {
			got, err := h.Stat(ctx, o.Ref, store.NewTrace(time.Now()))
			switch {
			case o.VersionID == "":
				return bench.NoEffect(fmt.Sprintf("it gave no version id for %s", o.Key))
			case store.CodeOf(err) != "" && !store.Repeatable(err):
				return bench.NoEffect(fmt.Sprintf("version %s of %s cannot be read: %v", o.VersionID, o.Key, err))
			case err != nil:
				return err
			case got.Size != o.Size:
				return bench.NoEffect(fmt.Sprintf("version %s of %s has %d bytes instead of %d", o.VersionID, o.Key, got.Size, o.Size))
			}
			refs = append(refs, o.Ref)
		}
		return h.Delete(ctx, refs, store.NewTrace(time.Now()))
	})
}
