package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/session"
	"warp/cli/session/plan"
	"warp/cli/terminal/console"
)

// planMember returns the plan of one of many runs, which args make.
func planMember(ctx context.Context, inv *command.Invocation, args []string) (*plan.DryRun, error) {
	line, err := Table(inv.Env).Parse(append(slices.Clone(args), "--dry-run"))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	member := *inv
	member.Command, member.Args, member.ForwardedArgs = line.Command, nil, nil
	member.Console = console.New(console.Streams{Out: &out, Err: inv.Err}, inv.Env, console.Options{JSON: true, Quiet: true}, inv.Hide)
	if err := line.Command.Run(ctx, &member); err != nil {
		return nil, err
	}
	d := &plan.DryRun{}
	if err := json.Unmarshal(out.Bytes(), d); err != nil {
		return nil, exit.Errorf("the plan of a run: %w", err)
	}
	return d, nil
}

// planSeries returns a plan with the parameters of a command that makes many runs, and those of its benchmark.
func planSeries(inv *command.Invocation, benchmark *command.Command) *plan.DryRun {
	both, of := *inv.Command, *inv
	both.Groups = slices.Concat(inv.Command.Groups, benchmark.Groups)
	of.Command = &both
	return plan.New(&of, benchmark.Name)
}

// sayMember adds the plan of a run, without its log, which is in the folder of the series.
func sayMember(d, member *plan.DryRun) {
	for _, line := range member.Plan {
		if !strings.HasPrefix(line, session.LogPlan) {
			d.Say("%s", line)
		}
	}
}
