// Package sweeper runs a benchmark at many points, each run in a process of its own, in a folder of which a sweep can be
// resumed and shown again.
package sweeper

import (
	"context"
	"encoding/json"
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
	"warp/internal/pause"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/compare"
	"warp/pkg/results"
	"warp/pkg/sweep"
)

// Kind is the kind of a folder of a sweep.
const Kind = "sweep"

// lastRole is the role of the run that repeats the first one at the end.
const lastRole = "first again"

// maxFailures is the number of runs that may fail in a row before the sweep ends: the store is probably gone.
const maxFailures = 3

// A Plan is what a sweep has to know to be resumed and shown again.
type Plan struct {
	Axes    []sweep.Axis  `json:"axes"`
	Repeats int           `json:"repeats"`
	Pause   time.Duration `json:"pause_ns"`
}

// A Sweep is a sweep while it is made.
type Sweep struct {
	Plan
	inv    *command.Invocation
	folder *series.Folder
	base   []string // command line of the benchmark, with its secrets
	points []point
	pools  map[string]*child.Pool
	seeds  map[string]uint64 // of the pools
	read   map[string]*results.Report
	made   int           // runs by this process
	spent  time.Duration // on them, with all that belongs to them
}

// A point is a point that was checked.
type point struct {
	label  string
	args   []string      // of warp, with secrets
	length time.Duration // of a run; 0 if time does not end it
	pool   string        // the points with the same one can use the same objects; "" = none can
	line   *command.Line
}

// Check parses a command line and returns an error if the benchmark would not begin.
type Check func(args []string) (*command.Line, error)

// New prepares the runs of a folder that are missing. base is the command line of the benchmark, with its secrets. Nothing is
// run and written yet.
func New(inv *command.Invocation, folder *series.Folder, base []string, check Check) (*Sweep, error) {
	s := &Sweep{inv: inv, folder: folder, base: base, pools: map[string]*child.Pool{}, seeds: map[string]uint64{}, read: map[string]*results.Report{}}
	var err error
	if s.Plan, err = planOf(&folder.Manifest); err != nil {
		return nil, err
	}
	s.points, err = checkPoints(base, s.Axes, check)
	return s, err
}

func planOf(m *series.Manifest) (p Plan, err error) {
	if err := json.Unmarshal(m.Plan, &p); err != nil {
		return p, exit.Errorf("the manifest is damaged: %w", err)
	}
	for _, a := range p.Axes {
		if a.Flag == "" || len(a.Values) == 0 || a.Numbers != nil && len(a.Numbers) != len(a.Values) {
			return p, exit.Errorf("the manifest is damaged: it has an axis without values")
		}
	}
	if len(p.Axes) == 0 || len(p.Axes) > 2 || sweep.Points(p.Axes) > sweep.MaxPoints || len(m.Benchmark) == 0 {
		return p, exit.Errorf("the manifest is damaged: it has no points")
	}
	return p, nil
}

// CheckPoints finds out whether the runs at all points would begin.
func CheckPoints(base []string, axes []sweep.Axis, check Check) error {
	_, err := checkPoints(base, axes, check)
	return err
}

func checkPoints(base []string, axes []sweep.Axis, check Check) (all []point, err error) {
	for i := range sweep.Points(axes) {
		values := sweep.Values(axes, i)
		p := point{label: sweep.Label(axes, values), args: slices.Clone(base)}
		var own []string // what distinguishes its objects
		for k, v := range values {
			p.args = append(p.args, series.Setting{Flag: axes[k].Flag, Value: v}.Arg())
			if !benchmarks.KeepsPool(axes[k].Flag) {
				own = append(own, axes[k].Flag+"="+v)
			}
		}
		if p.line, err = check(p.args); err != nil {
			return nil, exit.Withf(exit.Code(err), "%s: %w", p.label, err)
		}
		p.length, _ = p.line.Command.Lookup("duration").Get().(time.Duration)
		if benchmarks.PoolIsShared(p.line.Command) {
			p.pool = "pool " + strings.Join(own, " ")
		}
		all = append(all, p)
	}
	return all, nil
}

// AddRuns adds the runs of a new sweep to its folder, in the order in which they are made.
func AddRuns(f *series.Folder, p Plan, seed uint64) {
	order := sweep.Order(sweep.Points(p.Axes), p.Repeats, seed)
	for i, point := range order {
		role := ""
		if i == len(order)-1 {
			role = lastRole
		}
		var varied []series.Setting
		for k, v := range sweep.Values(p.Axes, point) {
			varied = append(varied, series.Setting{Flag: p.Axes[k].Flag, Value: v})
		}
		f.Add(role, varied...)
	}
}

// pointOf returns the point of a run.
func pointOf(axes []sweep.Axis, r *series.Run) (int, error) {
	point := 0
	for _, a := range axes {
		i := slices.IndexFunc(r.Varied, func(s series.Setting) bool { return s.Flag == a.Flag })
		k := -1
		if i >= 0 {
			k = slices.Index(a.Values, r.Varied[i].Value)
		}
		if k < 0 {
			return 0, exit.Errorf("the manifest is damaged: %s is at no point of the sweep", r.Log)
		}
		point = point*len(a.Values) + k
	}
	return point, nil
}

// Describe says what is going to be done.
func (s *Sweep) Describe() {
	missing := s.folder.Missing()
	var parts []string
	for _, a := range s.Axes {
		parts = append(parts, fmt.Sprintf("%s %s", a.Flag, short(a.Values)))
	}
	s.inv.Notef("%s of %s over %s; op logs go to %s", human.Plural(len(missing), "run"), s.base[0], strings.Join(parts, " × "), s.folder.Path)
	if least := s.least(missing); least > 0 {
		s.inv.Notef("that takes at least %s", human.Brief(least))
	}
	if n := s.shared(missing); n > 0 {
		s.inv.Notef("%s uploaded once and kept until the end", human.Choose(n, "the objects are", fmt.Sprintf("the objects of each of %d pools are", n)))
	}
}

// short lists values, the middle of many left out.
func short(values []string) string {
	const most = 8
	if len(values) > most {
		values = slices.Concat(values[:4], []string{"…"}, values[len(values)-2:])
	}
	return strings.Join(values, ", ")
}

// least returns how long the runs take at least; 0 if that is not known.
func (s *Sweep) least(runs []*series.Run) (sum time.Duration) {
	for _, r := range runs {
		point, err := pointOf(s.Axes, r)
		if err != nil || s.points[point].length == 0 {
			return 0
		}
		sum += s.points[point].length + s.Pause
	}
	return sum - s.Pause
}

// shared returns the number of pools that several of the runs use.
func (s *Sweep) shared(runs []*series.Run) (n int) {
	users := map[string]int{}
	for _, r := range runs {
		if point, err := pointOf(s.Axes, r); err == nil && s.points[point].pool != "" {
			if users[s.points[point].pool]++; users[s.points[point].pool] == 2 {
				n++
			}
		}
	}
	return n
}

// Run makes the runs that are missing. A run that fails does not end the sweep, unless several do in a row.
func (s *Sweep) Run(ctx context.Context) (err error) {
	defer func() {
		for _, p := range s.pools {
			err = exit.Join(err, p.Release(ctx))
		}
	}()
	missing := s.folder.Missing()
	failures := 0
	for i, r := range missing {
		if i > 0 && !pause.For(ctx, s.Pause) || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := time.Now()
		err := s.makeRun(ctx, r, missing[i:])
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, new(*folderError)):
			return err
		case err != nil:
			s.inv.Warnf("run %d of %d: %v", i+1, len(missing), err)
			if failures++; failures == maxFailures {
				return exit.Errorf("%d runs in a row have failed; the last one: %w", failures, err).WithHint("when that is repaired, warp sweep --resume %s measures what is missing", s.folder.Path)
			}
		default:
			failures = 0
		}
		s.made++
		s.spent += time.Since(began)
		s.sayProgress(r, missing, i)
	}
	if n := len(s.folder.Missing()); n > 0 {
		return exit.Errorf("%s failed", human.Plural(n, "run")).WithHint("warp sweep --resume %s makes them again", s.folder.Path)
	}
	return nil
}

// A folderError is an error of the folder, without which the sweep cannot go on.
type folderError struct{ error }

func (e *folderError) Unwrap() error { return e.error }

func folderFailed(err error) error {
	if err == nil {
		return nil
	}
	return &folderError{err}
}

// makeRun makes one run and reads its log. later are the runs from this one on.
func (s *Sweep) makeRun(ctx context.Context, r *series.Run, later []*series.Run) error {
	point, err := pointOf(s.Axes, r)
	if err == nil {
		err = s.folder.Begin(r)
	}
	if err != nil {
		return folderFailed(err)
	}
	failed := s.measure(ctx, r, &s.points[point], later)
	var report *results.Report
	if failed == nil {
		// What is complete counts, also if Ctrl-C came in the meantime.
		report, failed = runlog.Analyze(context.WithoutCancel(ctx), s.folder.LogPath(r), nil, aggregate.Options{})
	}
	switch {
	case failed == nil:
		s.read[r.Log] = report
		return folderFailed(s.folder.Done(r))
	case ctx.Err() != nil:
		return exit.Join(failed, s.folder.Abandon(r))
	}
	if err := s.folder.Failed(r, errors.New(s.inv.Hide.Text(failed.Error()))); err != nil {
		return folderFailed(err)
	}
	return failed
}

// measure makes the run in a process of its own.
func (s *Sweep) measure(ctx context.Context, r *series.Run, p *point, later []*series.Run) error {
	args := p.args
	var err error
	if s.shares(p, later) {
		if args, err = s.withPool(ctx, p); err != nil {
			return err
		}
	} else if !s.varies("seed") {
		args = append(slices.Clone(args), "--seed="+strconv.FormatUint(s.nextSeed(), 10))
	}
	run := child.Hide(p.line, args)
	run.Name = p.label
	return child.Measure(ctx, s.inv, run, s.folder.LogPath(r))
}

func (s *Sweep) varies(flag string) bool {
	return slices.ContainsFunc(s.Axes, func(a sweep.Axis) bool { return a.Flag == flag })
}

// nextSeed returns a seed that no run of the sweep has had: names of a run that was killed may still be in use.
func (s *Sweep) nextSeed() uint64 {
	begun := uint64(0)
	for _, r := range s.folder.Runs {
		begun += uint64(r.Attempts)
	}
	// 53 bits, as other seeds have.
	return bits.RotateLeft64((s.folder.Seed+begun)*0x9e3779b97f4a7c15, 32) >> 11
}

// shares reports whether a run uses objects that another process keeps. For a single run that would be useless.
func (s *Sweep) shares(p *point, later []*series.Run) bool {
	if p.pool == "" || s.varies("seed") {
		return false
	}
	users := 0
	for _, r := range later {
		if point, err := pointOf(s.Axes, r); err == nil && s.points[point].pool == p.pool {
			users++
		}
	}
	return users > 1 || s.pools[p.pool] != nil
}

// withPool returns the arguments of a run that uses the objects of its pool, which are uploaded first unless they are there.
func (s *Sweep) withPool(ctx context.Context, p *point) ([]string, error) {
	pool := s.pools[p.pool]
	if pool != nil && pool.Ended() {
		s.inv.Warnf("the objects were lost, and are uploaded again: %v", pool.Release(ctx))
		delete(s.pools, p.pool)
		pool = nil
	}
	if pool == nil {
		s.seeds[p.pool] = s.nextSeed()
		run := child.Hide(p.line, append(slices.Clone(p.args), "--"+benchmarks.HoldPool, "--seed="+strconv.FormatUint(s.seeds[p.pool], 10)))
		run.Name = p.label
		s.inv.Notef("uploading the objects of %s", p.label)
		var err error
		if pool, err = child.HoldPool(ctx, s.inv, run); err != nil {
			return nil, err
		}
		s.pools[p.pool] = pool
	}
	return append(slices.Clone(p.args), "--"+benchmarks.UsePool+"="+pool.Prefix, "--seed="+strconv.FormatUint(s.seeds[p.pool], 10)), nil
}

// sayProgress shows the figures of a run, and how long the rest takes.
func (s *Sweep) sayProgress(r *series.Run, missing []*series.Run, i int) {
	figures := "failed"
	if report := s.read[r.Log]; report != nil {
		figures = "nothing was measured"
		if f, ok := report.Total(); ok {
			figures = human.Throughput(f.BytesPerS, f.ObjectsPerS, f.HasBytes)
			if f.Duration != nil {
				figures += ", 99%: " + human.Millis(f.Duration.P99)
			}
		}
		if why := compare.Unfit(report, compare.MaxErrors); why != "" {
			figures += " (" + why + ")"
		}
	}
	left := time.Duration(len(missing)-i-1) * (s.spent/time.Duration(s.made) + s.Pause)
	point, _ := pointOf(s.Axes, r)
	s.inv.Notef("run %d of %d, %s: %s; about %s left", i+1, len(missing), s.points[point].label, figures, human.Duration(left.Round(time.Second)))
}

// Result evaluates the runs that were made.
func (s *Sweep) Result(ctx context.Context, show []compare.Choice) (*sweep.Result, error) {
	return resultOf(ctx, s.inv, s.folder.Path, &s.folder.Manifest, s.read, show)
}

// Interrupted reports whether a person ended the sweep.
func Interrupted(err error) bool { return errors.Is(err, bench.ErrInterrupted) }
