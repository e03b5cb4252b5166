package commands

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/session"
	"warp/internal/human"
	"warp/pkg/fleet"
)

// collectCommand fetches the logs that a killed coordinator did not get.
func collectCommand() *command.Command {
	f := &session.FleetFlags{}
	var benchdata, run string
	return &command.Command{
		Name: "collect", Section: command.SectionAnalysis,
		Summary: "fetch the logs of a run whose coordinator was lost",
		About: []string{
			"Clients that lose their coordinator stop, clean up and keep their logs. collect fetches these logs",
			"and merges them.",
		},
		Examples: []string{"warp collect --warp-client=load-{1...4} --benchdata=saved"},
		Groups: []command.Group{{Title: "Clients", Flags: append(f.Flags(),
			&cli.StringFlag{Name: "run", Destination: &run, DefaultText: "the latest", Usage: "fetch the logs of the run with this `ID`"},
		)}, {Title: command.FilesTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "benchdata", Destination: &benchdata, TakesFile: true, DefaultText: "warp-remote-…",
				Usage: "write the merged log to `NAME`.csv.zst"},
		}}},
		Run: func(ctx context.Context, inv *command.Invocation) error { return collect(ctx, inv, f, run, benchdata) },
	}
}

// collect fetches the logs of a run and merges them.
func collect(ctx context.Context, inv *command.Invocation, f *session.FleetFlags, run, benchdata string) error {
	if f.Clients == "" {
		return exit.Usagef("--warp-client names the clients to collect from")
	}
	o, err := f.Options(ctx, inv)
	if err != nil {
		return err
	}
	id := session.NewID()
	log := runlog.Path(benchdata, "remote", id)
	if err := runlog.Ready(log); err != nil {
		return err
	}
	// The coordinator that is dead may have left copies of the names that it would give, and so may a collect that was.
	o.Spool = func(client string) string { return session.SpoolPath(log, client+".collect-"+id) }
	all := fleet.New(o)
	defer all.Close()
	c, err := all.Collect(ctx, run, func(string) string { return log })
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return exit.Errorf("%w", err)
	}
	for _, client := range c.Fetched {
		// What the dead coordinator had of the log, and is in the merged one now. Most often it is not there.
		_ = os.Remove(session.SpoolPath(c.Path, client))
	}
	for _, w := range append(c.Without, c.Warnings...) {
		inv.Warnf("%s", w)
	}
	err = showMerged(inv, "collect", c.Stats, nil)
	if err == nil && len(c.Without) > 0 {
		return exit.Requestsf("the requests of %s are missing", human.Plural(len(c.Without), "client"))
	}
	return err
}
