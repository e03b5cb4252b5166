package benchmarks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/lease"
)

// nameFlags determine the names of a run's objects.
type nameFlags struct {
	prefix, subdir   string
	noPrefix, random bool
	shards           int
	client, clients  int

	clientFlag *cli.IntFlag
}

func (n *nameFlags) flags() []cli.Flag {
	n.clientFlag = &cli.IntFlag{Name: "client-id", Destination: &n.client, Hidden: true, Validator: flagtype.AtLeast(0),
		Usage: "with --client-count and --seed: `ID` of this client, from 0; clients share no names"}
	return []cli.Flag{
		&cli.StringFlag{Name: "prefix", Destination: &n.prefix, Usage: "put `PREFIX` in front of all object names"},
		&cli.BoolFlag{Name: "noprefix", Destination: &n.noPrefix, Usage: "use one prefix for all threads instead of one each"},
		&cli.StringFlag{Name: "subdir", Destination: &n.subdir, Hidden: true, Usage: "virtual directory `DIR` for all objects, below --prefix"},
		&cli.IntFlag{Name: "putshards", Destination: &n.shards, Hidden: true, Validator: flagtype.Between(0, generator.MaxShards),
			Usage: "spread objects over `N` directories shared by all threads, instead of one per thread"},
		&cli.BoolFlag{Name: "randomname", Destination: &n.random, Hidden: true, Usage: "use random object names of 32 characters; they still depend on --seed"},
		n.clientFlag,
		&cli.IntFlag{Name: "client-count", Destination: &n.clients, Hidden: true, Validator: flagtype.Between(1, maxClients),
			Usage: "number `N` of clients that you start by hand with the same --seed, each with its own --client-id"},
	}
}

// maxClients keeps numbers of clients times threads small.
const maxClients = 10_000

// check returns an error for flags that contradict each other. fleet says that --warp-client starts clients.
func (n *nameFlags) check(seed string, fleet bool) error {
	directory := strings.TrimSuffix(n.subdir, "/")
	odd := func(part string) bool { return part == "" || part == "." || part == ".." }
	switch {
	case n.subdir != "" && slices.ContainsFunc(strings.Split(directory, "/"), odd):
		return exit.Usagef("--subdir=%s has a part that is empty, . or .., which stores refuse", n.subdir).WithHint("write it like a/b")
	case strings.HasPrefix(n.above()+"/", ".warp/"):
		return exit.Usagef("--prefix and --subdir: .warp/ is where warp keeps its markers")
	case (n.clientFlag.IsSet() || n.clients > 0) && fleet:
		return exit.Usagef("--client-id and --client-count are for clients that are started by hand; --warp-client numbers them itself").
			WithHint("leave them out, or leave out --warp-client and start warp with them on each machine, at the same --syncstart")
	case n.clientFlag.IsSet() && n.clients == 0:
		return exit.Usagef("--client-id needs --client-count").WithHint("say how many clients there are")
	case n.clients > 0 && !n.clientFlag.IsSet():
		return exit.Usagef("--client-count needs --client-id").WithHint("give each client its own, from 0 to %d", n.clients-1)
	case n.clients > 0 && n.client >= n.clients:
		return exit.Usagef("--client-id=%d is not below --client-count=%d", n.client, n.clients).WithHint("ids start at 0")
	case n.clients > 0 && seed == "":
		return exit.Usagef("--client-count needs --seed").WithHint("give all clients the same one")
	}
	return nil
}

// checkWritable returns an error for names that clean-up would not find again.
func (n *nameFlags) checkWritable() error {
	if !lease.Listable(n.above()) {
		return exit.Usagef("--prefix and --subdir: %q has a character that listings in XML cannot contain, so warp could not clean up", n.above())
	}
	return nil
}

// above returns the prefix above the run's own, without the last "/".
func (n *nameFlags) above() string {
	directory := strings.TrimSuffix(n.subdir, "/")
	if n.prefix == "" || n.subdir == "" {
		return n.prefix + directory
	}
	return strings.TrimSuffix(n.prefix, "/") + "/" + directory
}

// listed returns the prefix of existing objects: --prefix as it is written, and
// what lies in --subdir.
func (n *nameFlags) listed() string {
	if n.subdir == "" {
		return n.prefix
	}
	return n.above() + "/"
}

// clientName returns the name of this client in logs and reports. The random
// part distinguishes runs that were given the same numbers.
func (n *nameFlags) clientName(random string) string {
	if n.clients == 0 {
		return random
	}
	return "c" + strconv.Itoa(n.client) + "-" + random
}

func (n *nameFlags) apply(o *bench.Options) {
	o.Prefix = n.above()
	o.Layout = generator.Layout{NoPrefix: n.noPrefix, Shards: n.shards, Random: n.random}
	o.Client, o.Clients = n.client, n.clients
}
