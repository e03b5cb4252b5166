package ops

import (
	"context"

	"warp/pkg/bench"

	"warp/pkg/store"
)

// ReadConfig reads the configuration of a store, as aisloader does of AIStore's proxies.
type ReadConfig struct{}

// Prepare has nothing to prepare.
func (ReadConfig) Prepare(context.Context, *bench.Env) error { return nil }

// Do reads the configuration once.
func (ReadConfig) Do(ctx context.Context, w *bench.Worker) error {
	return w.Measure(ctx, "CFG", "", func(ctx context.Context, r *bench.Request) (err error) {
		r.Receives = true
		reader, ok := r.Engine.(store.ConfigReader)
		if !ok {
			return store.ErrUnsupported
		}
		r.Bytes, err = reader.ReadConfig(ctx, r.Trace)
		return err
	})
}
