// Package finder makes the steps of a search for the highest load. Each step is one run or more, in a process of its own, whose
// logs are kept in a folder.
package finder

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/child"
	"warp/cli/exit"
	"warp/cli/files/runlog"
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
	Line       *command.Line // of the benchmark
	Args       []string      // the same, with its secrets and without the flags that steps set
	Asserts    []*assert.Assertion
	Clients    int  // of a fleet; 1 = this machine
	Closed     bool // the load is a number of workers

	pool *child.Pool // the objects that all steps share; nil = each run makes its own
	seed uint64      // of the pool

	step observed
}

// An observed step is one run, or several at the same load.
type observed struct {
	report  *results.Report // of the last run
	whole   results.Course
	courses map[*assert.Assertion]*results.Course
	unsent  int64
	threads int
	logs    []string
}

// Prepare uploads the objects that all steps share, if they can.
func (f *Finder) Prepare(ctx context.Context) (err error) {
	if !benchmarks.PoolIsShared(f.Line.Command) {
		return nil
	}
	f.seed = f.nextSeed()
	run := child.Hide(f.Line, append(slices.Clone(f.Args), "--"+benchmarks.HoldPool, f.seedFlag(f.seed)))
	run.Name = "the search"
	f.pool, err = child.HoldPool(ctx, f.Invocation, run)
	return err
}

// Release removes these objects.
func (f *Finder) Release(ctx context.Context) error {
	if f.pool == nil {
		return nil
	}
	return f.pool.Release(ctx)
}

// nextSeed returns a seed that no run of the search has had, so that names differ.
func (f *Finder) nextSeed() uint64 {
	// 53 bits, as other seeds have.
	return bits.RotateLeft64((f.Folder.Seed+uint64(len(f.Folder.Runs)))*0x9e3779b97f4a7c15, 32) >> 11
}

func (f *Finder) seedFlag(seed uint64) string { return "--seed=" + strconv.FormatUint(seed, 10) }

// Settings returns the flags of a run at a load. Rates are those of all clients together.
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
		f.step = observed{courses: map[*assert.Assertion]*results.Course{}}
	}
	settings := f.Settings(l, length)
	run := f.Folder.Add("", settings...)
	if err := f.Folder.Begin(run); err != nil {
		return find.Observation{}, err
	}
	report, err := f.measure(ctx, run, settings)
	if err == nil {
		err = f.Folder.Done(run)
	} else if ctx.Err() == nil {
		err = exit.Join(err, f.Folder.Failed(run, errors.New(f.Invocation.Hide.Text(err.Error()))))
	}
	if err != nil {
		return find.Observation{}, err
	}
	f.step.add(f.Asserts, report, run.Log)
	return f.observe(), nil
}

// measure makes a run and reads its log.
func (f *Finder) measure(ctx context.Context, r *series.Run, settings []series.Setting) (*results.Report, error) {
	args := slices.Clone(f.Args)
	for _, s := range settings {
		args = append(args, s.Arg())
	}
	if f.pool != nil {
		if f.pool.Ended() {
			return nil, exit.Join(exit.Errorf("the objects of the search are gone"), f.pool.Release(ctx))
		}
		args = append(args, "--"+benchmarks.UsePool+"="+f.pool.Prefix, f.seedFlag(f.seed))
	} else {
		args = append(args, f.seedFlag(f.nextSeed()))
	}
	run := child.Hide(f.Line, args)
	run.Name = "a step"
	if err := child.Measure(ctx, f.Invocation, run, f.Folder.LogPath(r)); err != nil {
		return nil, err
	}
	return runlog.Analyze(context.WithoutCancel(ctx), f.Folder.LogPath(r), nil, aggregate.Options{Slices: slicesOf(f.Asserts)})
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
		join(&s.whole, g.Course)
		s.unsent += g.Unsent
		s.threads = g.Concurrency
	}
	for _, a := range asserts {
		if c := a.CourseIn(r); c != nil {
			if s.courses[a] == nil {
				s.courses[a] = &results.Course{}
			}
			join(s.courses[a], c)
		}
	}
}

// join adds a course that is later.
func join(sum, c *results.Course) {
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
	o := find.Observe(f.Asserts, s.report, &s.whole, func(a *assert.Assertion) *results.Course { return s.courses[a] }, s.unsent, !f.Closed)
	o.Logs = s.logs
	o.Busy = !f.Closed && (s.unsent > 0 || busy(s.whole.Slices[find.Piece], s.threads))
	if o.Busy { // requests were late because of the answers, whatever else delayed them
		o.Client = ""
	}
	if c := s.report.Client; c != nil && c.Verdict == results.ClientLimited {
		o.Client = c.Text()
	}
	return o
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

// Describe says what a step has shown.
func Describe(o *find.Options, st *find.Step) string {
	var values []string
	for i := range st.Values {
		v := &st.Values[i]
		text := v.Why
		if v.Known {
			text = v.Assertion.Show(v.Measured.Value)
		}
		values = append(values, v.Assertion.Subject()+" "+text)
	}
	return fmt.Sprintf("%s: %s (%s)", o.Show(st.Value), st.Outcome, strings.Join(values, ", "))
}
