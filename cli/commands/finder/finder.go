// Package finder makes the steps of a search for the highest load. Each step is one run or more, in a process of its own, whose
// logs are kept in a folder.
package finder

import (
	"context"
	"slices"
	"strconv"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/child"
	"warp/cli/exit"
	"warp/cli/files/series"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/assert"
	"warp/pkg/find"
	"warp/pkg/results"
)

// Kind is the kind of a folder of a search.
const Kind = "find"

// warmup is how long a load is offered before a window begins.
const warmup = time.Second

// A Finder makes the steps of a search.
type Finder struct {
	Invocation *command.Invocation
	Folder     *series.Folder
	Line       *command.Line    // of the benchmark
	Args       []string         // the same, with its secrets and without the flags that steps set
	First      []series.Setting // of the first step
	Asserts    []*assert.Assertion
	Clients    int  // of a fleet; 1 = this machine
	Closed     bool // the load is a number of workers

	pool *child.Pool // the objects that all steps share; nil = each run makes its own

	step observed
}

// An observed step is one run, or several at the same load.
type observed struct {
	report    *results.Report // of the last run
	whole     results.Timeline
	timelines map[*assert.Assertion]*results.Timeline
	unsent    int64
	threads   int
	logs      []string
}

// Shared reports whether all steps can use the same objects.
func (f *Finder) Shared() bool { return benchmarks.PoolIsShared(f.Line.Command) }

// Prepare uploads the objects that all steps share, if they can.
func (f *Finder) Prepare(ctx context.Context) (err error) {
	if !f.Shared() {
		return nil
	}
	args := f.ArgsWith(f.First, "--"+benchmarks.HoldPool, f.Folder.NextSeed().Arg())
	f.pool, err = child.HoldPool(ctx, f.Invocation, child.Hide("the search", f.Line, args))
	return err
}

// ArgsWith returns the command line of the benchmark with these settings, and with more arguments.
func (f *Finder) ArgsWith(settings []series.Setting, more ...string) []string {
	args := slices.Clone(f.Args)
	for _, s := range settings {
		args = append(args, s.Arg())
	}
	return append(args, more...)
}

// Release removes these objects.
func (f *Finder) Release(ctx context.Context) error {
	if f.pool == nil {
		return nil
	}
	return f.pool.Release(ctx)
}

// Settings returns the flags of a run at a load. A rate is the sum over all clients.
func (f *Finder) Settings(l find.Load, length time.Duration) []series.Setting {
	length += warmup
	if length < 2*warmup {
		length = 2 * warmup
	}
	all := []series.Setting{{Flag: "duration", Value: human.Duration(length)}, {Flag: "warmup", Value: human.Duration(warmup)}}
	if f.Closed {
		return append(all, series.Setting{Flag: "concurrent", Value: strconv.FormatFloat(l.Value, 'f', 0, 64)})
	}
	return append(all, series.Setting{Flag: "rps-limit", Value: strconv.FormatFloat(l.Value/float64(f.Clients), 'g', -1, 64)},
		series.Setting{Flag: "concurrent", Value: strconv.Itoa(l.Workers)})
}

// Step offers a load for that long.
func (f *Finder) Step(ctx context.Context, l find.Load, length time.Duration, more bool) (find.Observation, error) {
	if !more {
		f.step = observed{timelines: map[*assert.Assertion]*results.Timeline{}}
	}
	settings := f.Settings(l, length)
	run := f.Folder.Add("", settings...)
	report, err := child.Make(ctx, f.Invocation, f.Folder, run, aggregate.Options{Slices: slicesOf(f.Asserts)}, func() (child.Command, error) { return f.commandOf(ctx, settings) })
	if err != nil {
		return find.Observation{}, err
	}
	f.step.add(f.Asserts, report, run.Log)
	return f.observe(), nil
}

// commandOf returns the command line of a run with these settings.
func (f *Finder) commandOf(ctx context.Context, settings []series.Setting) (child.Command, error) {
	args := f.ArgsWith(settings, f.Folder.NextSeed().Arg())
	if f.pool != nil {
		if f.pool.Ended() {
			return child.Command{}, exit.Join(exit.Errorf("the objects of the search are gone"), f.pool.Release(ctx))
		}
		args = append(args, "--"+benchmarks.UsePool+"="+f.pool.ID)
	}
	return child.Hide("a step", f.Line, args), nil
}

// slicesOf returns the lengths of the slices that the assertions are judged by.
func slicesOf(asserts []*assert.Assertion) []time.Duration {
	lengths := []time.Duration{find.Piece}
	for _, a := range asserts {
		if a.Every > 0 && !slices.Contains(lengths, a.Every) {
			lengths = append(lengths, a.Every)
		}
	}
	return lengths
}

// add adds a run to the step.
func (s *observed) add(asserts []*assert.Assertion, r *results.Report, log string) {
	s.report = r
	s.logs = append(s.logs, log)
	if i := r.MainGroup(); i >= 0 {
		g := &r.Groups[i]
		join(&s.whole, g.Timeline)
		s.unsent += g.Unsent
		s.threads = g.Concurrency
	}
	for _, a := range asserts {
		if c := a.TimelineIn(r); c != nil {
			if s.timelines[a] == nil {
				s.timelines[a] = &results.Timeline{}
			}
			join(s.timelines[a], c)
		}
	}
}

// join adds a later timeline.
func join(sum, c *results.Timeline) {
	if c == nil {
		return
	}
	if sum.Slices == nil {
		sum.Slices = map[time.Duration][]results.Slice{}
	}
	sum.Whole.Add(&c.Whole)
	sum.Whole.Seconds += c.Whole.Seconds
	for length, all := range c.Slices {
		sum.Slices[length] = append(sum.Slices[length], all...)
	}
}

// observe returns the observation of all runs of the step.
func (f *Finder) observe() find.Observation {
	s := &f.step
	o := find.Observe(f.Asserts, s.report, &s.whole, func(a *assert.Assertion) *results.Timeline { return s.timelines[a] }, s.unsent, !f.Closed)
	o.Logs = s.logs
	o.Busy = !f.Closed && (s.unsent > 0 || busy(s.whole.Slices[find.Piece], s.threads))
	if o.Busy && !clientsMedian(s.report) { // requests were late because of the answers, whatever else delayed them
		o.Client = ""
	}
	if limits := s.report.ClientLimits(); o.Client != "" && len(limits) > 0 { // why the value is in doubt
		o.Client = limits[0]
	}
	if c := s.report.Client; c != nil && c.Verdict == results.ClientLimited {
		o.Client = human.LowerFirst(c.Text())
	}
	return o
}

// clientsMedian reports whether most of the service time is this machine's, so that workers were busy with its own work.
func clientsMedian(r *results.Report) bool {
	return r.Client != nil && slices.ContainsFunc(r.Client.Figures, func(f results.ClientFigure) bool { return f.Figure == "p50" })
}

// busyShare is the share of the workers' time that requests took while all workers were busy: between two requests, a worker
// needs some time of its own.
const busyShare = .95

// busy reports whether all workers were busy in one second of the step at least.
func busy(pieces []results.Slice, threads int) bool {
	for at := 0; at+10 <= len(pieces); at += 10 {
		sum, seconds := 0., 0.
		for i := range pieces[at : at+10] {
			sum += pieces[at+i].Latency.Sum() / 1e9
			seconds += pieces[at+i].Seconds
		}
		if sum >= busyShare*float64(threads)*seconds {
			return true
		}
	}
	return false
}
