package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/flagtype"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/compare"
	"warp/pkg/report"
	"warp/pkg/results"
)

// AssertFlags are assertions about a run, and the files that their results go to.
type AssertFlags struct {
	texts                  []string
	strict, Abort, Confirm bool
	junit, bmf, gha        string

	All         []*assert.Assertion
	first       []results.Assertion // of the run that another one confirms
	Unconfirmed *results.Report     // of that run, until another one confirms it
}

// Flags returns the flags of benchmarks and analyze. rarely hides all but the
// first from the short help.
func (f *AssertFlags) Flags(rarely bool) []cli.Flag {
	return []cli.Flag{
		&flagtype.List{Name: "assert", Destination: &f.texts, Usage: "exit with code 4 if this `ASSERTION` fails, such as 'GET.p99<50ms'; repeatable"},
		&cli.BoolFlag{Name: "assert-strict", Destination: &f.strict, Hidden: rarely, Usage: "an assertion holds only if its whole confidence interval is on the right side"},
		&cli.StringFlag{Name: "junit", Destination: &f.junit, Hidden: rarely, TakesFile: true, Usage: "write the assertion results to `FILE` as JUnit XML"},
		&cli.StringFlag{Name: "bmf", Destination: &f.bmf, Hidden: rarely, TakesFile: true, Usage: "write the figures to `FILE` in Bencher's metric format"},
		&cli.StringFlag{Name: "gha", Destination: &f.gha, Hidden: rarely, TakesFile: true,
			Usage: "write the figures for github-action-benchmark to `FILE`.smaller.json and FILE.bigger.json"},
	}
}

// RunFlags returns the flags that only a run has.
func (f *AssertFlags) RunFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "assert-abort", Destination: &f.Abort, Hidden: true, Usage: "end the run as soon as an assertion can no longer hold"},
		&cli.BoolFlag{Name: "confirm", Destination: &f.Confirm, Hidden: true, Usage: "repeat the run once if an assertion fails; an assertion that then passes is flaky, not failed"},
	}
}

func (f *AssertFlags) Group() command.Group {
	return command.Group{Title: command.AssertionsTitle, Flags: f.Flags(false)}
}

// IsAssertion reports whether the flag is one of these, which change nothing about
// what is measured.
func IsAssertion(flag string) bool {
	return slices.Contains(RunAssertions(), flag)
}

// Parse parses the assertions. Assertions of comparisons are about changes, all
// others about runs. operations are the names that they may have.
func (f *AssertFlags) Parse(changes bool, operations []string) error {
	f.All = nil
	for _, text := range f.texts {
		a, err := assert.Parse(text, operations)
		switch {
		case err != nil:
			return exit.Usagef("--assert: %w", err)
		case a.Change && !changes:
			return exit.Usagef("--assert: %q is about a change, and there is one run only", a.Text).WithHint("warp cmp judges it")
		case changes && a.Every > 0:
			return exit.Usagef("--assert: %q is about pieces of one run", a.Text).WithHint("judge each run with warp analyze")
		case changes && a.AboutMarks():
			return exit.Usagef("--assert: %q is about the marks of one run", a.Text).WithHint("judge each run with warp analyze")
		case changes && !a.Change && a.Metric.Family != assert.Errors:
			return exit.Usagef("--assert: %q is about one run", a.Text).WithHint("write %s.change, or judge each run with warp analyze", a.Subject())
		case a.Change && a.Metric.Family == assert.Errors:
			return exit.Usagef("--assert: %q: errors can be 0, so their change has no ratio to judge", a.Text).WithHint("write %s<0.1%%, which is about each run", strings.TrimSuffix(a.Subject(), ".change"))
		}
		if _, ok := results.FindMetric(a.Metric.String()); changes && !ok {
			return exit.Usagef("--assert: %q: comparisons have no %s", a.Text, a.Metric).WithHint("use one of mean, p50, p90, p99, p99.9 and max")
		}
		f.All = append(f.All, a)
	}
	if len(f.All) > 0 {
		return f.checkFiles()
	}
	for _, o := range []struct {
		name  string
		given bool
	}{{"assert-strict", f.strict}, {"assert-abort", f.Abort}, {"confirm", f.Confirm}, {"junit", f.junit != ""}} {
		if o.given {
			return exit.Usagef("--%s needs --assert", o.name)
		}
	}
	return f.checkFiles()
}

// A flagFile is a file that a flag names, and the function that writes it. suite is the name of the benchmark in the file.
type flagFile struct {
	flag, path string
	write      func(w io.Writer, suite string, r *results.Report) error
}

func (f *AssertFlags) files() (all []flagFile) {
	if f.junit != "" {
		all = append(all, flagFile{"--junit", f.junit, func(w io.Writer, suite string, r *results.Report) error {
			return assert.JUnit(w, suite, measuredSeconds(r), r.Assertions)
		}})
	}
	if f.bmf != "" {
		all = append(all, flagFile{"--bmf", f.bmf, func(w io.Writer, suite string, r *results.Report) error {
			return assert.Bencher(w, suite, r, r.Assertions)
		}})
	}
	if f.gha != "" {
		for _, d := range []struct {
			suffix  string
			smaller bool // is better
		}{{".smaller.json", true}, {".bigger.json", false}} {
			all = append(all, flagFile{"--gha", strings.TrimSuffix(f.gha, ".json") + d.suffix, func(w io.Writer, suite string, r *results.Report) error {
				return assert.GitHubAction(w, suite, r, r.Assertions, d.smaller)
			}})
		}
	}
	return all
}

// checkFiles refuses files that exist already, or that are the same one.
func (f *AssertFlags) checkFiles() error {
	seen := map[string]string{}
	for _, file := range f.files() {
		if err := files.CheckNew(file.flag, file.path, "name another place"); err != nil {
			return err
		}
		path := filepath.Clean(file.path)
		if other := seen[path]; other != "" {
			return exit.Usagef("%s and %s name the same file", other, file.flag)
		}
		seen[path] = file.flag
	}
	return nil
}

// TryFiles finds out whether the files can be made.
func (f *AssertFlags) TryFiles() error {
	for _, file := range f.files() {
		if err := files.TryFolder(file.flag, file.path); err != nil {
			return err
		}
	}
	return nil
}

// Comparison adds the metrics of the assertions to the options.
func (f *AssertFlags) Comparison(o *compare.Options) {
	o.MaxErrors = f.maxErrors()
	for _, a := range f.All {
		o.Also = append(o.Also, compare.Choice{Op: a.Op, Metric: a.Metric.String()})
	}
}

// maxErrors returns the largest share of failed requests with which a run is
// compared: what the assertions about each run allow.
func (f *AssertFlags) maxErrors() float64 {
	for _, a := range f.All {
		if a.Metric.Family == assert.Errors && a.Op == "" && a.Cmp.Upper() {
			return a.Limit
		}
	}
	return compare.MaxErrors
}

// judge adds the results to the report, and returns the error that determines the
// exit code. save writes the files.
func (f *AssertFlags) judge(r *results.Report) error {
	if len(f.All) == 0 {
		return nil
	}
	r.Assertions = assert.Confirm(f.first, assert.Judge(f.All, r, f.strict))
	return assertionError(r.Assertions)
}

// repeats reports whether the run is repeated to confirm that an assertion fails.
func (f *AssertFlags) repeats(err error) bool {
	return f.Confirm && f.first == nil && exit.Code(err) == exit.Assertion
}

// save writes the files.
func (f *AssertFlags) save(r *results.Report, suite string) (err error) {
	for _, file := range f.files() {
		failed := files.WriteNew(file.path, func(w io.Writer) error { return file.write(w, suite, r) })
		if failed != nil {
			err = errors.Join(err, exit.Errorf("%s: %w", file.flag, failed))
		}
	}
	return err
}

// measuredSeconds returns the length of all windows of a report together.
func measuredSeconds(r *results.Report) (sum float64) {
	for _, g := range r.Groups {
		if g.Kind != "preparation" {
			sum += g.WindowS
		}
	}
	return sum
}

// Conclude judges a report, shows it, and writes the files. The error
// determines the exit code.
func Conclude(inv *command.Invocation, r *results.Report, analysis *AnalysisFlags, asserts *AssertFlags, suite string) error {
	verdict := asserts.judge(r)
	if asserts.repeats(verdict) {
		asserts.first, asserts.Unconfirmed = r.Assertions, r
		if inv.JSON { // only one document, about the run that decides
			return verdict
		}
		return exit.Join(showReport(inv, r, analysis), verdict)
	}
	asserts.Unconfirmed = nil
	return exit.Join(Finish(inv, r, analysis, asserts, suite), verdict)
}

// JudgeLog judges a log whose report is not shown, and writes the
// files, including the page. The caller shows the results; the error determines the exit
// code.
func (f *AssertFlags) JudgeLog(ctx context.Context, inv *command.Invocation, path, suite string, html *HTMLFlag) ([]results.Assertion, error) {
	if len(f.All) == 0 && len(f.files()) == 0 && html.Path == "" {
		return nil, nil
	}
	r, err := runlog.Analyze(ctx, path, nil, aggregate.Options{Slices: assert.Slices(f.All)})
	if err != nil {
		return nil, err
	}
	verdict := f.judge(r)
	inv.Hide.Strings(r)
	return r.Assertions, exit.Join(exit.Join(saveReportPage(inv, html, r), f.save(r, cmp.Or(r.Benchmark, suite))), verdict)
}

// ShowAssertions writes results that no report has.
func ShowAssertions(inv *command.Invocation, all []results.Assertion) error {
	if len(all) == 0 {
		return nil
	}
	return inv.Result(func(w io.Writer) error { return report.Assertions(w, all, TextOptions(inv, false)) })
}

// Finish shows the report that decides, and writes the files.
func Finish(inv *command.Invocation, r *results.Report, analysis *AnalysisFlags, asserts *AssertFlags, suite string) error {
	err := showReport(inv, r, analysis)
	return exit.Join(exit.Join(err, saveReportPage(inv, &analysis.HTML, r)), asserts.save(r, suite))
}

// assertionError lists the assertions that failed; nil if all passed.
func assertionError(all []results.Assertion) error {
	code, word, outcome := exit.Assertion, "failed", results.Failed
	if !slices.ContainsFunc(all, func(a results.Assertion) bool { return a.Result == outcome }) {
		code, word, outcome = exit.Undecided, "inconclusive", results.Inconclusive
	}
	var texts []string
	for i := range all {
		if all[i].Result == outcome {
			texts = append(texts, all[i].Assertion)
		}
	}
	switch {
	case len(texts) == 0:
		return nil
	case len(all) == 1:
		return exit.Withf(code, "the assertion %s", all[0].Sentence)
	}
	return exit.Withf(code, "%d of %s %s: %s", len(texts), human.Plural(len(all), "assertion"), word, strings.Join(texts, ", "))
}

// RunAssertions returns the names of the flags that judge a single run.
func RunAssertions() []string {
	f := &AssertFlags{}
	return command.Names(append(f.Flags(false), f.RunFlags()...))
}

// ChangeFlags returns the flags of comparisons.
func (f *AssertFlags) ChangeFlags() []cli.Flag {
	return []cli.Flag{
		&flagtype.List{Name: "assert", Destination: &f.texts, Usage: "exit with code 4 if this `ASSERTION` about a change fails, such as 'GET.p99.change<+5%'; repeatable"},
		&cli.StringFlag{Name: "junit", Destination: &f.junit, TakesFile: true, Usage: "write the assertion results to `FILE` as JUnit XML"},
	}
}

// ConcludeChanges shows how sets of runs differ, and judges the assertions about it, which must hold in each comparison.
func ConcludeChanges(inv *command.Invocation, c *compare.Comparisons, f *AssertFlags, how Showing) error {
	if len(f.All) == 0 {
		return ShowVerdicts(inv, c, how)
	}
	var all []results.Assertion
	for _, v := range c.Comparisons {
		v.Assertions = assert.JudgeChanges(f.All, changesOf(v))
		if len(c.Comparisons) > 1 {
			for i := range v.Assertions {
				a := &v.Assertions[i]
				a.Subject, a.Sentence = v.After.Name+": "+a.Subject, fmt.Sprintf("%s -> %s: %s", v.Before.Name, v.After.Name, a.Sentence)
			}
		}
		all = append(all, v.Assertions...)
	}
	err := ShowVerdicts(inv, c, how)
	if f.junit != "" {
		failed := files.WriteNew(f.junit, func(w io.Writer) error { return assert.JUnit(w, inv.Command.Name, 0, all) })
		if failed != nil {
			err = exit.Join(err, exit.Errorf("--junit: %w", failed))
		}
	}
	return exit.Join(err, assertionError(all))
}

// changesOf finds the changes of one comparison.
func changesOf(v *compare.Verdicts) func(op, metric string) *assert.Change {
	return func(op, metric string) *assert.Change {
		row, ok := v.Row(op, metric)
		if !ok {
			return nil
		}
		withheld := v.Withheld
		if row.Withheld != "" {
			withheld = append(slices.Clone(withheld), row.Withheld)
		}
		return &assert.Change{Estimate: row.Change, Low: row.Low, High: row.High, Values: slices.Concat(row.Before.Values, row.After.Values), Withheld: strings.Join(withheld, "; ")}
	}
}
