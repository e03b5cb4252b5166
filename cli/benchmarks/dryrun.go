package benchmarks

import (
	"fmt"

	"warp/cli/command"
	"warp/cli/session"
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
	if op, ok := b.op.(bench.Multiplexer); ok && op.RequestsAtOnce() > 1 {
		d.Say("that takes up to %d connections, %d for each worker", o.Concurrency*op.RequestsAtOnce(), op.RequestsAtOnce())
	}
	if f.Target.Host != target.EmbeddedHost {
		f.cost.partSize = partSize(inv, b, f)
		if f.Fleet.Clients != "" {
			d.Say("the numbers that follow are for each client")
		}
		f.planCost(d, b, &o)
	}
	f.PlanFiles(d, &o)
	d.Identity(session.Identity(inv, &f.RunFlags, &o, nil))
	return d.Show(inv, f.DryRun)
}

// partSize returns the size above which the run uploads objects in parts; 0 = never.
func partSize(inv *command.Invocation, b benchmark, f *Flags) int64 {
	switch {
	case f.cost.partSize > 0:
		return f.cost.partSize
	case b.parts == "" && f.cost.uploads == 0, f.Target.Options.Whole():
		return 0
	}
	if part := inv.Command.Lookup("part.size"); part != nil && b.parts != "" { // another one is not about uploads
		if size, _ := part.Get().(int64); size > 0 {
			return size
		}
	}
	return usualPart
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
