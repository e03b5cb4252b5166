package benchmarks

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/session/plan"
	"warp/cli/target"
	"warp/pkg/bench"
)

// showPlan shows what --dry-run shows.
func showPlan(inv *command.Invocation, f *Flags, b benchmark, o bench.Options) error {
	d := plan.New(inv, b.name)
	d.Say("requests go to %s", plan.Hosts(&f.Target))
	if f.Fleet.Clients != "" {
		d.Say("the clients %s make them, each with all of these parameters", f.Fleet.Clients)
	}
	d.Bucket(&f.Target, &o, f.Destroy != "", f.Seed == "")
	d.Say("%s", b.plan())
	d.Say("%s", f.PlanEnd(b.empties, &o))
	if f.Target.Host != target.EmbeddedHost {
		if part := inv.Command.Lookup("part.size"); part != nil && b.parts != "" {
			if f.cost.partSize, _ = part.Get().(int64); f.cost.partSize == 0 {
				f.cost.partSize = usualPart
			}
		}
		if f.Fleet.Clients != "" {
			d.Say("of what follows, each client makes as much")
		}
		f.planCost(d, b, &o)
	}
	f.PlanFiles(d, &o)
	return d.Show(inv, f.DryRun)
}

// summary describes a run before it begins.
func (f *Flags) summary(b benchmark, o *bench.Options) string {
	return fmt.Sprintf("bucket %s: %s; %s", o.Buckets(), b.plan(), f.PlanEnd(b.empties, o))
}

// PlanEnd describes how requests are sent and what ends that.
func (f *Flags) PlanEnd(empties bool, o *bench.Options) string {
	var ends []string
	if f.Ends.Passes {
		ends = append(ends, "all passes of --epochs are made")
	}
	if empties {
		ends = append(ends, "none is left")
	}
	if f.Autoterm.On {
		ends = append(ends, "the throughput is steady (--autoterm)")
	}
	return plan.Requests(o, ends)
}
