package sweeper

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files/runlog"
	"warp/cli/files/series"
	"warp/cli/terminal/redact"
	"warp/pkg/aggregate"
	"warp/pkg/compare"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// Read reads the folder of a sweep, and evaluates its runs.
func Read(ctx context.Context, inv *command.Invocation, path string, show []compare.Choice) (*sweep.Result, error) {
	m, err := series.Read(path, Kind)
	if err != nil {
		return nil, err
	}
	return resultOf(ctx, inv, path, m, nil, show)
}

// Runs reads the runs of a sweep that are done.
func Runs(ctx context.Context, inv *command.Invocation, path string) (runs []sweep.Measurement, axes []sweep.Axis, err error) {
	m, err := series.Read(path, Kind)
	if err != nil {
		return nil, nil, err
	}
	runs, plan, err := runsOf(ctx, inv, path, m, nil)
	return runs, plan.Axes, err
}

// runsOf returns the runs that are done, and the plan of all. known has the reports that were read already.
func runsOf(ctx context.Context, inv *command.Invocation, path string, m *series.Manifest, known map[string]*results.Report) (runs []sweep.Measurement, plan Plan, err error) {
	if plan, err = planOf(m); err != nil {
		return nil, plan, err
	}
	for i, r := range m.Runs {
		if r.State != series.Done {
			continue
		}
		point, err := pointOf(plan.Axes, r)
		if err != nil {
			return nil, plan, err
		}
		log, report := filepath.Join(path, r.Log), known[r.Log]
		if report == nil {
			inv.Debugf("reading %s, %d of %d", log, i+1, len(m.Runs))
			if report, err = runlog.Analyze(ctx, log, nil, aggregate.Options{}); err != nil {
				return nil, plan, err
			}
		}
		runs = append(runs, sweep.Measurement{Point: point, Again: r.Role == lastRole, Log: log, Began: r.Began, Report: report})
	}
	return runs, plan, nil
}

func resultOf(ctx context.Context, inv *command.Invocation, path string, m *series.Manifest, known map[string]*results.Report, show []compare.Choice) (*sweep.Result, error) {
	runs, plan, err := runsOf(ctx, inv, path, m, known)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, exit.Errorf("no run in %s is done", path).WithHint("warp sweep --resume %s measures what is missing", path)
	}
	o := sweep.Options{
		Folder: path, Benchmark: m.Benchmark[0], Command: redact.Quote(commandLine(plan, m.Benchmark)), Seed: m.Seed,
		Repeats: plan.Repeats, Axes: plan.Axes, Show: show,
	}
	for _, r := range m.Runs {
		switch r.State {
		case series.Done:
		case series.Failed:
			var values []string
			for _, v := range r.Varied {
				values = append(values, v.Value)
			}
			o.Failed = append(o.Failed, sweep.Failure{Values: values, Log: filepath.Join(path, r.Log), Error: strings.TrimSpace(r.Error)})
		default:
			o.Missing++
		}
	}
	return sweep.Evaluate(runs, o), nil
}

// commandLine returns the command line that makes the runs.
func commandLine(plan Plan, benchmark []string) []string {
	line := []string{"warp", "sweep"}
	for _, a := range plan.Axes {
		values := []string{strings.Join(a.Values, ",")}
		if strings.Contains(strings.Join(a.Values, ""), ",") {
			values = a.Values
		}
		for _, v := range values {
			line = append(line, "--vary", a.Flag+"="+v)
		}
	}
	if plan.Repeats > 1 {
		line = append(line, "--repeat="+strconv.Itoa(plan.Repeats))
	}
	return append(line, benchmark...)
}
