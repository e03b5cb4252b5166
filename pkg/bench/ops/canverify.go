package ops

import (
	"context"
	"fmt"

	"warp/pkg/bench"

	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// canVerify checks before the run that an object has a checksum to compare, or else
// each download would fail.
func canVerify(ctx context.Context, w *bench.Worker, obj *store.Object) error {
	if w.Check.Mode() != verify.Checksum {
		return nil
	}
	silent := w.Silent
	w.Silent = true
	defer func() { w.Silent = silent }()
	err := w.Download(ctx, obj, store.Get{Ref: obj.Ref})
	if store.CodeOf(err) == store.CodeNoChecksum {
		return fmt.Errorf("--verify=checksum: %w", err)
	}
	return nil // other errors show in the run
}

// canVerifyFound does the same for objects that were in the bucket before.
func canVerifyFound(ctx context.Context, e *bench.Env, objects []store.Object) error {
	w := e.Workers[0]
	if w.Check.Mode() != verify.Content {
		return canVerify(ctx, w, &objects[0])
	}
	for i := range objects {
		if !generator.MadeBy(e.ObjectsSeed, objects[i].Key) {
			return fmt.Errorf("--verify=content: %s was not uploaded with --seed=%d, so its correct content is not known; "+
				"name the seed of the run that uploaded it, choose other objects with --prefix, or use another --verify", objects[i].Key, e.ObjectsSeed)
		}
	}
	return nil
}
