package reports

import (
	"errors"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/compare"
	"warp/pkg/results"
)

// JudgeFlags select the metrics that are compared, and how.
type JudgeFlags struct {
	judge, minEffect string
	force            bool
}

// JudgeFlags returns the flags.
func (f *JudgeFlags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "judge", Destination: &f.judge, DefaultText: "throughput,p50,p99",
			Usage: "judge these `METRICS`, such as p99,GET.ttfb"},
		&cli.StringFlag{Name: "min-effect", Value: "2%", Destination: &f.minEffect, Usage: "ignore changes smaller than `PERCENT`"},
		&cli.BoolFlag{Name: "force", Destination: &f.force, Usage: "compare even runs of different benchmarks, sizes or workloads"},
	}
}

// Options returns the options of the comparison.
func (f *JudgeFlags) Options() (o compare.Options, err error) {
	o = compare.Options{MaxErrors: compare.MaxErrors, Force: f.force}
	if f.judge != "" {
		if o.Judge, err = compare.ParseChoices(f.judge); err != nil {
			return o, exit.Usagef("--judge: %w", err)
		}
		for _, c := range o.Judge {
			if m, _ := results.FindMetric(c.Metric); m.Unit == results.Share {
				return o, exit.Usagef("--judge: %s can be 0, so it has no ratio to judge", c).WithHint("its values are shown in any case")
			}
		}
	}
	if o.MinEffect, err = parsePercent(f.minEffect); err != nil {
		return o, exit.Usagef("--min-effect: %w", err)
	}
	return o, nil
}

// parsePercent reads 2% and 2 as 0.02.
func parsePercent(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
	if err != nil || !(x > 0 && x < 100) {
		return 0, flagtype.Wrong("%q is not a percentage above 0 and below 100, such as 2%%", text)
	}
	return x / 100, nil
}

// ExplainComparison adds to an error what to do if runs cannot be compared.
func ExplainComparison(err error) error {
	var r *compare.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	if r.Forced {
		return exit.Errorf("%w", err).WithHint("--force compares them anyway")
	}
	return exit.Errorf("%w", err)
}
