package trial

import (
	"context"
	"time"

	"warp/cli/exit"
	"warp/cli/process"
)

// setupTimeout bounds a setup command.
const setupTimeout = 10 * time.Minute

// prepare runs the side's hook.
func (t *Trial) prepare(ctx context.Context, side int) error {
	if t.Sides[side].Setup == "" {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	hook := process.Shell(limited, t.Sides[side].Setup)
	said := &process.Tail{}
	hook.Stdout, hook.Stderr, hook.WaitDelay = said, said, time.Second
	flag := "--" + Letter(side) + "-setup"
	switch err := hook.Run(); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return exit.Errorf("%s took longer than %v", flag, setupTimeout)
	default:
		return exit.Errorf("%s: %w%s", flag, err, said.Suffix())
	}
}
