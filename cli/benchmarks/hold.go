package benchmarks

import (
	"context"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/session"
	"warp/cli/target"
	"warp/pkg/bench"
)

// A poolRole says whether a process keeps the objects of a benchmark for other processes, or uses these. A sweep has one
// process that uploads and keeps them, and removes them at the end, and one for each run.
type poolRole struct {
	hold   bool
	prefix string
}

// The flags of both roles.
const (
	HoldPool = "hold-pool"
	UsePool  = "use-pool"
)

func (r *poolRole) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: HoldPool, Destination: &r.hold, Hidden: true,
			Usage: "upload the objects, print their prefix, and keep them until standard input ends; measure nothing"},
		&cli.StringFlag{Name: UsePool, Destination: &r.prefix, Hidden: true,
			Usage: "use the objects below `PREFIX`, which warp with --hold-pool keeps"},
	}
}

func (r *poolRole) check(p *poolFlags) error {
	switch {
	case r.hold && r.prefix != "":
		return exit.Usagef("--%s and --%s cannot be combined", HoldPool, UsePool)
	case (r.hold || r.prefix != "") && (p.existing || p.fileList != ""):
		return exit.Usagef("--%s and --%s are about objects that warp uploads, so they cannot be combined with --list-existing and --filelist", HoldPool, UsePool)
	}
	return nil
}

// PoolIsShared reports whether runs of a benchmark, whose command line was parsed, can use the same objects. A pool that the
// flags name already is shared anyway; clients of a fleet have a pool each; and the embedded store ends with its process.
func PoolIsShared(c *command.Command) bool {
	if c.Lookup(HoldPool) == nil || command.Value(c.Lookup("host")) == target.EmbeddedHost {
		return false
	}
	for _, name := range []string{"list-existing", "filelist", "warp-client", "keep-data", "noclear", "clear-bucket", "encrypt"} {
		if f := c.Lookup(name); f != nil && command.Value(f) != "" && command.Value(f) != "false" {
			return false
		}
	}
	return true
}

// KeepsPool reports whether a flag may differ between runs that use the same objects.
func KeepsPool(flag string) bool {
	switch flag {
	case "concurrent", "duration", "warmup", "rps-limit", "arrival", "stages", "pick", "autoterm", "autoterm.dur", "autoterm.pct", "range", "range-size", "read-offset", "read-length",
		"unique", "epochs", "verify", "retries", "drain", "engine":
		return true
	}
	return false
}

// holdPool uploads the objects of a benchmark, prints where they are, and removes them when standard input ends.
func (f *Flags) holdPool(ctx context.Context, inv *command.Invocation, b benchmark, o bench.Options) error {
	if f.Fleet.Clients != "" {
		return exit.Usagef("--%s cannot be combined with --warp-client: each client has a pool of its own", HoldPool)
	}
	f.Plan = f.summary(b, &o)
	f.Stress = true
	o.Redact = inv.Hide.Text
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	load, err := session.NewLocal(ctx, session.New(inv, &f.RunFlags, o, f.Log), b.op, cancel)
	if err != nil {
		return err
	}
	return load.Hold(ctx)
}
