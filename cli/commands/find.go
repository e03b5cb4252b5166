package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/finder"
	"warp/cli/exit"
	"warp/cli/files/series"
	"warp/cli/flagtype"
	"warp/cli/reports"
	"warp/cli/session/plan"
	"warp/internal/human"
	"warp/pkg/assert"
	"warp/pkg/bench"
	"warp/pkg/find"
	"warp/pkg/fleet"
)

// The loads that --search looks for.
const (
	searchRate       = "rate"
	searchConcurrent = "concurrent"
)

// findFlags say what is searched for, and how long.
type findFlags struct {
	find.Options
	texts      []string
	what       string
	resolution float64 // percent
	atLeast    float64
	folder     string
	html       reports.HTMLFlag
	dryRun     flagtype.Asked
	startGiven func() bool

	asserts []*assert.Assertion
}

// maxStepLength limits steps: their pieces are kept in memory.
const maxStepLength = 15 * time.Minute

// findCommand searches for the highest load at which assertions hold.
func findCommand(benchmarkFlags []cli.Flag) *command.Command {
	f := &findFlags{}
	start := &cli.FloatFlag{Name: "start", Value: 100, DefaultText: "100 requests/s, 1 worker", Destination: &f.Start, Validator: loadValid, Usage: "start with `N` requests/s or workers"}
	f.startGiven = start.IsSet
	return &command.Command{
		Name: finder.Kind, Args: "[BENCHMARK|FOLDER [flags]]", Section: command.SectionOther,
		Summary: "search for the highest rate at which assertions hold",
		About: []string{
			"Runs BENCHMARK at one rate after another: doubles the rate until an assertion fails, narrows the range, and",
			"confirms the result. Each step has an op log in a folder; with FOLDER, a search is shown again.",
		},
		Examples: []string{
			"warp find --assert 'response.p99<20ms' --assert 'errors<0.1%' mixed --host=s3:9000",
			"warp find --assert 'GET.response.p99<50ms' --at-least=5000 get --host=s3:9000",
			"warp find --search=concurrent --assert 'p99<100ms' put --host=s3:9000",
		},
		Groups: []command.Group{{Title: "Search", Flags: []cli.Flag{
			&flagtype.List{Name: "assert", Destination: &f.texts, Usage: "an `ASSERTION` that must hold, such as 'response.p99<20ms'; repeatable"},
			&flagtype.Choice{Name: "search", Value: searchRate, Config: flagtype.Choices{searchRate, searchConcurrent}, Destination: &f.what,
				Usage: "search for this `LOAD`: rate (requests/s) or concurrent (workers)"},
			start,
			&cli.FloatFlag{Name: "resolution", Value: 5, Destination: &f.resolution, Validator: resolutionValid, Usage: "narrow the result down to `N` %"},
			&flagtype.Duration{Name: "max-step", Value: 2 * time.Minute, Destination: &f.MaxStep, Validator: stepValid, Usage: "prolong an undecided step up to `TIME`"},
			&flagtype.Duration{Name: "hold", Value: time.Minute, Destination: &f.Hold, Validator: holdValid, Usage: "confirm the result for `TIME` at the end; 0 skips this"},
			&flagtype.Duration{Name: "max-time", Value: 20 * time.Minute, Destination: &f.MaxTime, Usage: "end the search after `TIME`"},
			&cli.IntFlag{Name: "max-concurrent", Value: 2048, Destination: &f.MaxWorkers, Validator: flagtype.AtLeast(1), Usage: "use up to `N` workers if all are busy"},
			&cli.FloatFlag{Name: "at-least", Destination: &f.atLeast, Validator: loadValid, Usage: "exit with code 4 if the result is less than `N` requests/s or workers"},
		}}, {Title: command.RunTitle, Flags: []cli.Flag{
			&cli.StringFlag{Name: "logs", Destination: &f.folder, DefaultText: "warp-find-TIME-ID", Usage: "keep the op logs in a new `FOLDER`"},
			f.html.Flag(),
			plan.Flag(&f.dryRun),
		}}},
		ForwardedFlags: command.Without(benchmarkFlags, append(reports.RunAssertions(), "html", "assert", "dry-run")...),
		MinArgs:        1, MaxArgs: 1, Needs: "one benchmark, or the folder of a search",
		Run: func(ctx context.Context, inv *command.Invocation) error { return f.run(ctx, inv) },
	}
}

func loadValid(n float64) error {
	if !(n >= minLoad && n <= maxLoad) {
		return flagtype.Wrong("%g is not a load between %g and %s", n, minLoad, human.Grouped(int64(maxLoad)))
	}
	return nil
}

// Limits of loads.
const (
	minLoad = 0.1
	maxLoad = 1e8
)

func resolutionValid(percent float64) error {
	if !(percent >= 0.1 && percent <= 100) {
		return flagtype.Wrong("%g is not between 0.1 and 100 percent", percent)
	}
	return nil
}

func stepValid(d time.Duration) error {
	if d < find.MinStep || d > maxStepLength {
		return flagtype.Wrong("%s is not between %s and %s", human.Duration(d), human.Duration(find.MinStep), human.Duration(maxStepLength))
	}
	return nil
}

func holdValid(d time.Duration) error {
	if d > maxStepLength {
		return flagtype.Wrong("%s is more than %s", human.Duration(d), human.Duration(maxStepLength))
	}
	return nil
}

func (f *findFlags) run(ctx context.Context, inv *command.Invocation) error {
	if err := f.html.Ready(); err != nil {
		return err
	}
	unknown := Table(inv.Env).Find(inv.Args[0]) == nil
	if unknown && series.Is(inv.Args[0]) {
		if err := f.onlyShows(inv); err != nil {
			return err
		}
		r, err := finder.Read(inv.Args[0])
		if err != nil {
			return err
		}
		return reports.ShowFind(inv, r, &f.html)
	}
	if unknown && len(f.texts) == 0 {
		return exit.Usagef("%s is neither a benchmark nor the folder of a search", inv.Args[0]).WithHint("warp --help lists the benchmarks")
	}
	s, err := f.plan(ctx, inv)
	if err != nil {
		return err
	}
	f.folder = cmp.Or(f.folder, folderName(finder.Kind))
	if f.dryRun != "" {
		return f.showPlan(ctx, inv, s)
	}
	m, err := manifestOf(inv, finder.Kind, slices.Concat(inv.Args, inv.ForwardedArgs))
	if err == nil {
		s.Folder, err = series.Create("--logs", f.folder, m)
	}
	if err != nil {
		return err
	}
	defer s.Folder.Close()
	return f.search(ctx, inv, s)
}

// onlyShows refuses flags of a search if an argument is the folder of an earlier one.
func (f *findFlags) onlyShows(inv *command.Invocation) error {
	names := []string{"assert", "search", "start", "resolution", "max-step", "hold", "max-time", "max-concurrent", "at-least", "logs", "dry-run"}
	if len(inv.ForwardedArgs) == 0 && !anyGiven(inv, names...) {
		return nil
	}
	return exit.Usagef("%s is the folder of an earlier search, which can only be shown", inv.Args[0]).WithHint("leave out the flags that are not about the report")
}

// plan checks everything before anything is sent.
func (f *findFlags) plan(ctx context.Context, inv *command.Invocation) (*finder.Finder, error) {
	args := slices.Concat(inv.Args, inv.ForwardedArgs)
	line, err := parseMember(inv.Env, args, "warp find") // whether it would begin depends on the rate
	if err != nil {
		return nil, err
	}
	if err := f.check(inv); err != nil {
		return nil, err
	}
	for _, name := range []string{"rps-limit", "duration", "warmup", "autoterm", "max-objects", "total-size", "epochs", "stages", "marks"} {
		if line.Command.WasGiven(name) {
			return nil, exit.Usagef("--%s cannot be used in warp find, which sets rates and durations itself", name).WithHint("leave it out")
		}
	}
	s := &finder.Finder{Invocation: inv, Line: line, Asserts: f.asserts, Clients: 1, Closed: f.Closed}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--concurrent=") && !strings.HasPrefix(arg, "--seed=") {
			s.Args = append(s.Args, arg)
		}
	}
	if f.Workers, _ = line.Command.Lookup("concurrent").Get().(int); f.Workers > f.MaxWorkers {
		return nil, exit.Usagef("--concurrent=%d is more than --max-concurrent=%d", f.Workers, f.MaxWorkers)
	}
	if f.Closed && line.Command.WasGiven("concurrent") {
		return nil, exit.Usagef("--concurrent cannot be combined with --search=concurrent").WithHint("--start is the first number of workers")
	}
	if clients := command.Value(line.Command.Lookup("warp-client")); clients != "" {
		members, err := fleet.ParseMembers(ctx, clients, net.DefaultResolver.LookupHost)
		if err != nil {
			return nil, exit.Usagef("--warp-client: %w", err)
		}
		s.Clients = len(members)
	}
	var asserts []string
	for _, text := range f.texts {
		asserts = append(asserts, "--assert="+text)
	}
	step, err := f.firstStep(inv.Env, s, asserts...)
	if err == nil {
		err = step.Command.Check(false)
	}
	s.First = s.Settings(f.FirstStep())
	return s, err
}

// check checks the flags of the search.
func (f *findFlags) check(inv *command.Invocation) error {
	if len(f.texts) == 0 {
		return exit.Usagef("warp find needs an assertion").WithHint("add --assert, such as --assert 'response.p99<20ms'")
	}
	f.Resolution, f.Closed, f.Now = f.resolution/100, f.what == searchConcurrent, time.Now
	f.asserts, f.Requests = nil, 0
	for _, text := range f.texts {
		a, err := assert.Parse(text, benchmarks.RequestNames())
		switch {
		case err != nil:
			return exit.Usagef("--assert: %w", err)
		case a.Change || a.AboutMarks():
			return exit.Usagef("--assert: %q is not about a single load", a.Text)
		case a.Every > find.MinStep:
			return exit.Usagef("--assert: %q is about pieces that are longer than the shortest step, %s", a.Text, human.Duration(find.MinStep))
		case a.Metric.Stat == assert.Max || a.Metric.Stat == assert.Min:
			return exit.Usagef("--assert: %q: a search needs an interval, and an extreme has none", a.Text).WithHint("use a percentile, such as p99.9")
		case f.Closed && a.Metric.Family == assert.Response:
			return exit.Usagef("--assert: %q: a search for a number of workers has no response times", a.Text).WithHint("assert the service time, such as p99, or leave out --search")
		case !f.Closed && a.Metric.Family == assert.Duration:
			inv.Notef("%s is a service time, which leaves out how long requests waited for a worker; response.%s includes it", a.Subject(), a.Metric)
		}
		f.asserts = append(f.asserts, a)
		f.Requests = max(f.Requests, a.Requests())
	}
	if f.Closed && !f.startGiven() {
		f.Start = 1
	}
	switch {
	case f.Closed && (f.Start != float64(int(f.Start)) || f.Start > float64(f.MaxWorkers)):
		return exit.Usagef("--start=%g is not a number of workers up to --max-concurrent=%d", f.Start, f.MaxWorkers)
	case f.MaxTime < f.firstLength():
		return exit.Usagef("--max-time=%s is too short for the first step, which takes %s", human.Duration(f.MaxTime), human.Duration(f.firstLength())).
			WithHint("use a longer --max-time")
	case f.MaxWorkers > bench.MaxThreads:
		return exit.Usagef("--max-concurrent=%d is more than %d", f.MaxWorkers, bench.MaxThreads)
	case !f.Closed && float64(f.Requests) > f.Start*f.MaxStep.Seconds():
		return exit.Usagef("%d requests, which the assertions need, take longer than --max-step=%s at %g requests/s", f.Requests, human.Duration(f.MaxStep), f.Start).
			WithHint("start with a higher rate (--start), or use a longer --max-step")
	}
	return nil
}

// firstLength returns how long the first step offers its load at least.
func (f *findFlags) firstLength() time.Duration {
	_, length := f.FirstStep()
	return length
}

// firstStep parses the command line of the first step, with more flags.
func (f *findFlags) firstStep(env command.Environment, s *finder.Finder, more ...string) (*command.Line, error) {
	return Table(env).Parse(s.ArgsWith(s.Settings(f.FirstStep()), more...))
}

// showPlan shows what the search would do, and what its first step would.
func (f *findFlags) showPlan(ctx context.Context, inv *command.Invocation, s *finder.Finder) error {
	line, err := f.firstStep(inv.Env, s, "--dry-run")
	if err != nil {
		return err
	}
	first, err := planMember(ctx, inv, s.ArgsWith(s.Settings(f.FirstStep())))
	if err != nil {
		return err
	}
	d := planSeries(inv, line.Command)
	f.describe(d, s)
	if d.Cost, err = f.cost(ctx, inv, s); err != nil {
		return err
	}
	if d.Cost != nil && d.Cost.Uploads > 0 {
		d.Say("all preparations together make %s", d.Cost.SayUploads())
	}
	d.Say("op logs go to %s", f.folder)
	d.Say("the first step:")
	sayMember(d, first)
	return d.Show(inv, f.dryRun)
}

// cost returns what the search sends at most: as much as a run of its length without a rate, and more preparations if each step
// makes its own. It returns nil if that is not known, or there is no cost.
func (f *findFlags) cost(ctx context.Context, inv *command.Invocation, s *finder.Finder) (*plan.Cost, error) {
	d, err := planMember(ctx, inv, s.ArgsWith(nil, "--duration="+human.Duration(f.MaxTime)))
	if err != nil {
		return nil, err
	}
	if d.Cost == nil || s.Shared() {
		return d.Cost, nil
	}
	runs := math.Ceil(float64(f.MaxTime) / float64(find.MinRunEvery))
	c := *d.Cost
	c.Uploads, c.Listings = runs*c.Uploads, runs*c.Listings
	c.UploadBytes, c.MaxUpload = runs*c.UploadBytes, runs*c.MaxUpload
	return &c, nil
}

// describe adds the plan of the search, without its steps.
func (f *findFlags) describe(d *plan.DryRun, s *finder.Finder) {
	d.Say("the first step offers %s; the load doubles until a step fails, then the search narrows it down to %g %% and confirms it", f.Show(f.Start), 100*f.Resolution)
	hold := ""
	if f.Hold > 0 {
		hold = fmt.Sprintf("the result is offered for %s, and ", human.Duration(f.Hold))
	}
	d.Say("a step takes %s to %s; %sthe search ends after %s at the latest", human.Duration(f.firstLength()), human.Duration(f.MaxStep), hold, human.Duration(f.MaxTime))
	if s.Shared() {
		d.Say("all steps use the same objects, which are uploaded once")
	} else {
		d.Say("each step prepares and cleans up for itself")
	}
	if !f.Closed {
		d.Say("no flag limits the rate: at N requests/s, the search makes up to %s × N requests", human.Grouped(int64(f.MaxTime.Seconds())))
	}
	if s.Clients > 1 {
		d.Say("rates are the sums of all %d clients", s.Clients)
	}
}

// search makes the search and shows its result, also if it was interrupted.
func (f *findFlags) search(ctx context.Context, inv *command.Invocation, s *finder.Finder) error {
	inv.Notef("op logs go to %s; at most %s", s.Folder.Path, human.Duration(f.MaxTime))
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	f.Progress = func(now find.State) {
		inv.Notef("%s (%s); step %d; so far %s; at most %s left", f.Show(now.Load.Value), now.Role, now.Steps+1, f.Bracket(now.Held, now.Failed), human.Duration(now.Left.Round(time.Second)))
	}
	result, failed := find.Run(ctx, s, f.Options)
	failed = exit.Join(failed, s.Release(ctx))
	r := find.NewReport(result, &f.Options)
	r.Command, r.Benchmark, r.Folder = inv.Line, s.Folder.Benchmark[0], s.Folder.Path
	for _, a := range f.asserts {
		r.Assertions = append(r.Assertions, a.Text)
	}
	if f.atLeast > 0 {
		r.Demand(f.atLeast)
	}
	if len(r.Steps) == 0 && failed != nil {
		return failed
	}
	var err error
	if s.Folder.Plan, err = json.Marshal(r); err == nil {
		err = s.Folder.Save()
	}
	return exit.Join(exit.Join(failed, err), exit.Join(verdict(r), reports.ShowFind(inv, r, &f.html)))
}

// verdict returns the error with the exit code of the result.
func verdict(r *find.Report) error {
	switch {
	case r.Enough == find.Passed:
		return nil
	case r.Enough == find.NotEnough:
		return exit.Withf(exit.Assertion, "at least %s was asked for, and the highest load is %s", r.Show(r.AtLeast), r.Bracket())
	case r.Enough == find.Inconclusive:
		return exit.Withf(exit.Undecided, "it is undecided whether all assertions hold at %s", r.Show(r.AtLeast))
	case r.Status == find.Found:
		return nil
	case r.Status == find.None:
		return exit.Withf(exit.Assertion, "%s", r.Sentence)
	}
	return exit.Withf(exit.Undecided, "%s", r.Sentence)
}

// compareSearches compares two folders of searches.
func compareSearches(inv *command.Invocation, analysis *reports.AnalysisFlags, asserts *reports.AssertFlags) error {
	switch {
	case len(asserts.All) > 0:
		return exit.Usagef("--assert: results of searches have no assertions of their own").WithHint("leave it out")
	case analysis.CSV.Wanted:
		return exit.Usagef("--csv: the comparison of two searches has no CSV").WithHint("use --json")
	case len(inv.Args) != 2:
		return exit.Usagef("warp cmp compares the results of two searches, but got %d arguments", len(inv.Args))
	}
	var r [2]*find.Report
	for i, path := range inv.Args {
		var err error
		if r[i], err = finder.Read(path); err != nil {
			return err
		}
	}
	c, err := find.Compare(r[0], r[1])
	if err != nil {
		return exit.Usagef("%w", err)
	}
	return reports.ShowFindChange(inv, c, &analysis.HTML)
}
