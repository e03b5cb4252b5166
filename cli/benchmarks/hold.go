package benchmarks

import (
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/session"
	"warp/cli/target"
)

// A poolRole says whether a process keeps the objects of a benchmark for other processes, or uses these. A sweep has one
// process that uploads and keeps them, and removes them at the end, and one for each run.
type poolRole struct {
	hold bool
	pool string  // that another process keeps: SEED or SEED@ADDRESS, see [session.Local.Hold]
	seed *uint64 // of its objects, set by check
}

// The flags of both roles.
const (
	HoldPool = "hold-pool"
	UsePool  = "use-pool"
)

func (r *poolRole) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: HoldPool, Destination: &r.hold, Hidden: true,
			Usage: "upload the objects, print their seed, and keep them until standard input ends; measure nothing"},
		&cli.StringFlag{Name: UsePool, Destination: &r.pool, Hidden: true,
			Usage: "use the objects of `SEED` that a process with --hold-pool keeps; SEED@ADDRESS if they are in its embedded store"},
	}
}

func (r *poolRole) check(p *poolFlags, t *target.Flags) (err error) {
	switch {
	case r.hold && r.pool != "":
		return exit.Usagef("--%s and --%s cannot be combined", HoldPool, UsePool)
	case (r.hold || r.pool != "") && (p.existing || p.fileList != ""):
		return exit.Usagef("--%s and --%s are about objects that warp uploads, so they cannot be combined with --list-existing and --filelist", HoldPool, UsePool)
	case r.pool == "":
		return nil
	}
	text, addr, embedded := strings.Cut(r.pool, "@")
	seed, err := session.ParseSeed(text)
	if err != nil || embedded != (t.Host == target.EmbeddedHost) || embedded && addr == "" {
		return exit.Usagef("--%s=%s is not what warp with --%s prints for that --host", UsePool, r.pool, HoldPool)
	}
	r.seed, t.EmbeddedAddr = &seed, addr
	return nil
}

// PoolIsShared reports whether runs of a benchmark, whose command line was parsed, can use the same objects. A pool that the
// flags name already is shared anyway.
func PoolIsShared(c *command.Command) bool {
	if c.Lookup(HoldPool) == nil {
		return false
	}
	for _, name := range []string{"list-existing", "filelist", "keep-data", "noclear", "clear-bucket", "encrypt"} {
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
