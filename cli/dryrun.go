package cli

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/plan"
	"warp/pkg/bench"
)

// showPlan shows what --dry-run shows.
func showPlan(inv *command.Invocation, f *benchFlags, b benchmark, o bench.Options) error {
	d := plan.New(inv, b.name)
	d.Say("requests go to %s", plan.Hosts(&f.target))
	if f.fleet.Clients != "" {
		d.Say("the clients %s make them, each with all of these parameters", f.fleet.Clients)
	}
	d.Bucket(&f.target, &o, f.destroy != "", f.seed == "")
	d.Say("%s", b.plan())
	d.Say("%s", f.planEnd(b.empties, &o))
	f.planFiles(d, &o)
	return d.Show(inv)
}

// summary describes a run before it begins.
func (f *benchFlags) summary(b benchmark, o *bench.Options) string {
	return fmt.Sprintf("bucket %s: %s; %s", o.Buckets(), b.plan(), f.planEnd(b.empties, o))
}

// planEnd describes how requests are sent and what ends that.
func (f *benchFlags) planEnd(empties bool, o *bench.Options) string {
	var ends []string
	if f.ends.passes {
		ends = append(ends, "all passes of --epochs are made")
	}
	if empties {
		ends = append(ends, "none is left")
	}
	if f.autoterm.On {
		ends = append(ends, "the throughput is steady (--autoterm)")
	}
	return plan.Requests(o, ends)
}
