// Package sweeper runs a benchmark at many points, each run in a process of its own, in a folder from which a sweep can be
// resumed and shown again.
package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/cli/benchmarks"
	"warp/cli/command"
	"warp/cli/commands/child"
	"warp/cli/exit"
	"warp/cli/files/series"
	"warp/cli/session/plan"
	"warp/cli/target"
	"warp/internal/human"
	"warp/internal/pause"
	"warp/pkg/aggregate"
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

// A Plan has what is needed to resume a sweep and to show it again.
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
	at     map[*series.Entry]*point // of each run
	pools  map[string]*child.Pool
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
	cost   *plan.Cost    // set by Plans; nil if it is not known
	line   *command.Line
}

// Check parses a command line and returns an error if the benchmark would not start.
type Check func(args []string) (*command.Line, error)

// New prepares the runs of a folder that are missing. base is the command line of the benchmark, with its secrets. Nothing is
// run and written yet.
func New(inv *command.Invocation, folder *series.Folder, base []string, check Check) (*Sweep, error) {
	s := &Sweep{inv: inv, folder: folder, base: base, at: map[*series.Entry]*point{}, pools: map[string]*child.Pool{}, read: map[string]*results.Report{}}
	var err error
	if s.Plan, err = planOf(&folder.Manifest); err != nil {
		return nil, err
	}
	if s.points, err = checkPoints(base, s.Axes, check); err != nil {
		return nil, err
	}
	for _, r := range folder.Runs {
		i, err := pointOf(s.Axes, r)
		if err != nil {
			return nil, err
		}
		s.at[r] = &s.points[i]
	}
	return s, nil
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

// CheckPoints finds out whether the runs at all points would start.
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
		p.length = benchmarks.LengthOf(p.line.Command)
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
func pointOf(axes []sweep.Axis, r *series.Entry) (int, error) {
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
func (s *Sweep) Describe(say func(format string, args ...any)) {
	missing := s.folder.Missing()
	var parts []string
	for _, a := range s.Axes {
		parts = append(parts, fmt.Sprintf("%s %s", a.Flag, short(a.Values)))
	}
	say("%s of %s over %s; op logs go to %s", human.Plural(len(missing), "run"), s.base[0], strings.Join(parts, " × "), s.folder.Path)
	if length := s.minLength(missing); length > 0 {
		say("that takes at least %s", human.Brief(length))
	}
	switch pools, runs := s.shared(missing); {
	case pools == 0:
	case pools == 1 && runs == len(missing):
		say("the objects are uploaded once and kept until the end")
	case runs == len(missing):
		say("the objects of each of %d pools are uploaded once and kept until the end", pools)
	default:
		say("%d of the runs share %s uploaded once and kept until the end; the others prepare and clean up for themselves", runs,
			human.Choose(pools, "objects, which are", fmt.Sprintf("the objects of %d pools, each", pools)))
	}
}

// short lists values, the middle of many left out.
func short(values []string) string {
	const maxShown = 8
	if len(values) > maxShown {
		values = slices.Concat(values[:4], []string{"…"}, values[len(values)-2:])
	}
	return strings.Join(values, ", ")
}

// minLength returns how long the runs take at least; 0 if that is not known.
func (s *Sweep) minLength(runs []*series.Entry) (sum time.Duration) {
	for _, r := range runs {
		if s.at[r].length == 0 {
			return 0
		}
		sum += s.at[r].length + s.Pause
	}
	return sum - s.Pause
}

// shared returns the number of pools that several of the runs use, and the number of these runs.
func (s *Sweep) shared(runs []*series.Entry) (pools, users int) {
	if s.varies("seed") {
		return 0, 0
	}
	for _, n := range s.users(runs) {
		if n > 1 {
			pools, users = pools+1, users+n
		}
	}
	return pools, users
}

// users returns how many of the runs can use each pool.
func (s *Sweep) users(runs []*series.Entry) map[string]int {
	n := map[string]int{}
	for _, r := range runs {
		if pool := s.at[r].pool; pool != "" {
			n[pool]++
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
		case errors.As(err, new(*child.FolderError)):
			return err
		case err != nil:
			s.inv.Warnf("run %d of %d: %v", i+1, len(missing), err)
			if failures++; failures == maxFailures {
				return exit.Errorf("%d runs in a row have failed; the last one: %w", failures, err).WithHint("when that is fixed, warp sweep --resume %s measures what is missing", s.folder.Path)
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

// makeRun makes one run and reads its log. later are the runs from this one on.
func (s *Sweep) makeRun(ctx context.Context, r *series.Entry, later []*series.Entry) error {
	report, err := child.Make(ctx, s.inv, s.folder, r, aggregate.Options{}, func() (child.Command, error) { return s.commandAt(ctx, s.at[r], later) })
	if err == nil {
		s.read[r.Log] = report
	}
	return err
}

// commandAt returns the command line of a run at a point. Its objects are uploaded first, if it shares them.
func (s *Sweep) commandAt(ctx context.Context, p *point, later []*series.Entry) (child.Command, error) {
	args := slices.Clone(p.args)
	if s.shares(p, later) {
		pool, err := s.poolOf(ctx, p)
		if err != nil {
			return child.Command{}, err
		}
		if pool != nil {
			args = append(args, "--"+benchmarks.UsePool+"="+pool.ID)
		}
	}
	if !s.varies("seed") {
		args = append(args, s.folder.NextSeed().Arg())
	}
	return child.Hide(p.label, p.line, args), nil
}

func (s *Sweep) varies(flag string) bool {
	return slices.ContainsFunc(s.Axes, func(a sweep.Axis) bool { return a.Flag == flag })
}

// shares reports whether a run uses objects that another process keeps. For a single run that would be useless, unless the
// embedded store has them, which all runs should have in another process.
func (s *Sweep) shares(p *point, later []*series.Entry) bool {
	if p.pool == "" || s.varies("seed") {
		return false
	}
	return s.users(later)[p.pool] > 1 || s.pools[p.pool] != nil || command.Value(p.line.Command.Lookup("host")) == target.EmbeddedHost
}

// poolOf returns the pool of a point; nil if it cannot have one. Its objects are uploaded first unless they are there.
func (s *Sweep) poolOf(ctx context.Context, p *point) (*child.Pool, error) {
	pool := s.pools[p.pool]
	if pool != nil && pool.Ended() {
		s.inv.Warnf("the objects were lost, and are uploaded again: %v", pool.Release(ctx))
		delete(s.pools, p.pool)
		pool = nil
	}
	if pool != nil {
		return pool, nil
	}
	run := child.Hide(p.label, p.line, append(slices.Clone(p.args), "--"+benchmarks.HoldPool, s.folder.NextSeed().Arg()))
	s.inv.Notef("uploading the objects of %s", p.label)
	pool, err := child.HoldPool(ctx, s.inv, run)
	switch {
	case err != nil:
		return nil, err
	case pool == nil:
		for i := range s.points {
			s.points[i].pool = ""
		}
		return nil, nil
	}
	s.pools[p.pool] = pool
	return pool, nil
}

// sayProgress shows the figures of a run, and how long the rest takes.
func (s *Sweep) sayProgress(r *series.Entry, missing []*series.Entry, i int) {
	figures := "failed"
	if report := s.read[r.Log]; report != nil {
		figures = child.Figures(report)
		if why := compare.Unfit(report, compare.MaxErrors); why != "" {
			figures += " (" + why + ")"
		}
	}
	left := time.Duration(len(missing)-i-1) * (s.spent/time.Duration(s.made) + s.Pause)
	s.inv.Notef("run %d of %d, %s: %s%s", i+1, len(missing), s.at[r].label, figures, child.Left("about", left))
}

// Result evaluates the runs that were made.
func (s *Sweep) Result(ctx context.Context, show []compare.Choice) (*sweep.Result, error) {
	return resultOf(ctx, s.inv, s.folder.Path, &s.folder.Manifest, s.read, show)
}
