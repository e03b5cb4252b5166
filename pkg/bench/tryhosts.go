package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"warp/internal/human"
	"warp/pkg/store"
)

// tryHosts sends a request to each host before the run. Otherwise a misspelt host would fail its share of all requests.
func (r *Runner) tryHosts(ctx context.Context) error {
	dead := r.Client.TryHosts(ctx, r.Options.Bucket)
	hosts := len(r.Client.Endpoints())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(dead) == 0:
		return nil
	case len(dead) == hosts:
		return &store.UnreachableError{Hosts: r.Client.Endpoints(), Err: fmt.Errorf("%s (%w)", dead[0].Endpoint, dead[0].Err)}
	}
	err := store.DeadHostsError(dead, hosts)
	if !r.Options.AllowDeadHosts {
		return fmt.Errorf("%w: correct --host, or go on without it by --allow-dead-hosts", err)
	}
	r.Progress.Warn(err.Error())
	return nil
}

// refusedNotes says how many requests found no connection to a host, if there are several.
func (r *Runner) refusedNotes() (notes []string) {
	if len(r.Client.Endpoints()) == 1 {
		return nil
	}
	refused := r.Client.Refused()
	for _, endpoint := range slices.Sorted(maps.Keys(refused)) {
		notes = append(notes, fmt.Sprintf("%s found no connection to %s, which was then tried less and less often", human.Plural(refused[endpoint], "request"), endpoint))
	}
	return notes
}
