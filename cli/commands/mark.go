package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/internal/human"
	"warp/internal/runsocket"
	"warp/pkg/oplog"
)

// markCommand sets a mark in a run of another process.
func markCommand() *command.Command {
	return &command.Command{
		Name: "mark", Args: "[RUN] TEXT", Section: command.SectionOther,
		Summary: "mark an instant in a run, such as a failure that you cause",
		About: []string{
			"The report of the run has throughput, p99, errors, the longest gap and the time to recovery around",
			"each mark. RUN is the id of a run of the same user on this machine, and may be left out if there",
			"is only one.",
		},
		Examples: []string{"warp mark 'node 3 restarted'", "warp mark Zq3x 'disk pulled'"},
		MinArgs:  1, MaxArgs: 2, Needs: "a text that says what was done, in quotes",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			text, err := oplog.MarkText(inv.Args[len(inv.Args)-1])
			if err != nil {
				return exit.Usagef("%w", err)
			}
			run, err := findRun(ctx, inv)
			if err != nil {
				return err
			}
			m, err := runsocket.Mark(ctx, *run, text)
			if err != nil {
				return exit.Errorf("%w", err)
			}
			return showMark(inv, run.ID, m)
		},
	}
}

// findRun finds the run that is meant.
func findRun(ctx context.Context, inv *command.Invocation) (*runsocket.Info, error) {
	runs, err := runsocket.List(ctx, inv.Env)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case len(runs) == 0 && err != nil:
		return nil, exit.Errorf("no run was found: %w", err)
	case len(runs) == 0:
		return nil, exit.Errorf("this user has no run on this machine").WithHint("mark a run of another user or machine there")
	}
	if len(inv.Args) == 1 {
		if len(runs) > 1 {
			return nil, exit.Usagef("%d runs are in progress: %s", len(runs), listRuns(runs)).WithHint("say which one: warp mark %s TEXT", runs[0].ID)
		}
		return &runs[0], nil
	}
	asked := inv.Args[0]
	i := slices.IndexFunc(runs, func(r runsocket.Info) bool { return r.ID == asked })
	if i < 0 {
		return nil, exit.Errorf("there is no run %q; there is %s", asked, listRuns(runs)).WithHint("a text with spaces needs quotes")
	}
	return &runs[i], nil
}

// listRuns names runs, up to ten of them.
func listRuns(runs []runsocket.Info) string {
	var names []string
	for i, r := range runs {
		if i == 10 {
			names = append(names, fmt.Sprintf("and %d more", len(runs)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s since %s)", human.OneLine(r.ID), human.OneLine(r.Command), r.Start.In(time.Local).Format("15:04:05")))
	}
	return strings.Join(names, ", ")
}

// A setMark is the JSON document of mark.
type setMark struct {
	Version int    `json:"version"`
	Command string `json:"command"`
	Run     string `json:"run"`
	runsocket.Marked
}

func showMark(inv *command.Invocation, run string, m runsocket.Marked) error {
	switch {
	case inv.JSON:
		return inv.ResultJSON(setMark{1, "mark", run, m})
	case inv.Quiet:
		return nil
	}
	return inv.Resultf("warp: run %s marked at %s: %s\n", run, m.At.In(time.Local).Format("15:04:05.000"), human.OneLine(m.Text))
}
