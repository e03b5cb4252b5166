package bench

import (
	"context"
	"fmt"

	"warp/pkg/bench/verify"
	"warp/pkg/generator"
	"warp/pkg/store"
)

// canVerify checks before the run that an object has a checksum to compare, or else
// each download would fail.
func (w *Worker) canVerify(ctx context.Context, obj *store.Object) error {
	if w.check.Mode() != verify.Checksum {
		return nil
	}
	silent := w.silent
	w.silent = true
	defer func() { w.silent = silent }()
	err := w.download(ctx, obj, store.Get{Ref: obj.Ref})
	if store.CodeOf(err) == store.CodeNoChecksum {
		return fmt.Errorf("--verify=checksum: %w", err)
	}
	return nil // other errors show in the run
}

// canVerifyFound does the same for objects that were in the bucket before.
func (e *Env) canVerifyFound(ctx context.Context, objects []store.Object) error {
	w := e.workers[0]
	if w.check.Mode() != verify.Content {
		return w.canVerify(ctx, &objects[0])
	}
	for i := range objects {
		if !generator.MadeBy(e.Seed, objects[i].Key) {
			return fmt.Errorf("--verify=content: %s was not uploaded with --seed=%d, so its right content is not known; "+
				"name the seed of the run that uploaded it, choose other objects with --prefix, or use another --verify", objects[i].Key, e.Seed)
		}
	}
	return nil
}
