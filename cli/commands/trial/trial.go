// Package trial runs two or more benchmarks alternately, each run in a process of its own,
// and judges which one is better.
package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warp/cli/command"
	"warp/cli/commands/child"
	"warp/cli/exit"
	"warp/cli/files"
	"warp/cli/files/runlog"
	"warp/cli/reports"
	"warp/internal/human"
	"warp/internal/pause"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/compare"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

const (
	lookInterval = 4 // rounds
	maxRounds    = 1000
)

// Options say which sides are run, and how often. A round has one run of each side. A round of two sides is a pair.
type Options struct {
	Sides     []Side // up to compare.MaxSets
	AllPairs  bool   // compare each side with all others, not only with the first
	Rounds    int
	MaxRounds int // continue up to this number until decided; 0 = Rounds
	Pause     time.Duration
	AA        bool   // first compare side A with itself
	Folder    string // for the op logs; must not exist
	Compare   compare.Options
}

// Check checks the numbers of rounds.
func (o *Options) Check() error {
	if o.MaxRounds == 0 {
		o.MaxRounds = o.Rounds
	}
	switch {
	case o.Rounds > maxRounds:
		return exit.Usagef("--pairs=%d is more than %d", o.Rounds, maxRounds)
	case o.MaxRounds < o.Rounds:
		return exit.Usagef("--max-pairs=%d is less than --pairs=%d", o.MaxRounds, o.Rounds)
	case o.MaxRounds > o.Rounds && o.MaxRounds > stats.MaxSequential:
		return exit.Usagef("--max-pairs=%d is more than %d, up to which the levels of several looks are computed exactly", o.MaxRounds, stats.MaxSequential).
			WithHint("use --pairs=%d for a comparison with one look", o.MaxRounds)
	}
	return nil
}

// Needed returns the minimum number of rounds for verdicts on all sides.
func (o *Options) Needed() int {
	judged := o.Compare
	judged.Paired = true
	return judged.Needed(compare.Count(len(o.Sides), o.AllPairs))
}

// A Side is one of the benchmarks.
type Side struct {
	Benchmark string        // with its place, if it is from a file
	Settings  []string      // what it runs, as a command line
	Length    time.Duration // of a run, 0 if time does not end it
	Args      []string      // of warp
	In        string        // standard input
	Setup     string        // command for the shell before each run
}

func (s *Side) same(o *Side) bool {
	return slices.Equal(s.Args, o.Args) && s.In == o.In && s.Setup == o.Setup
}

// A series is the runs of several members that are compared with each other.
type series struct {
	kind    string // folder of the logs, "" for the folder of the trial
	which   []int  // the side that each member is
	names   []string
	runs    [][]compare.Run // of each member
	pending [][]int         // rounds of the current block
	order   string          // of the runs that were made
}

func newSeries(kind string, which []int, names []string) *series {
	return &series{kind: kind, which: which, names: names, runs: make([][]compare.Run, len(which))}
}

// rounds returns the number of complete rounds.
func (s *series) rounds() int {
	n := len(s.runs[0])
	for _, runs := range s.runs {
		n = min(n, len(runs))
	}
	return n
}

// A Trial is a comparison of sides while it is made.
type Trial struct {
	Options
	inv    *command.Invocation
	sides  *series
	noise  *series // of side A with itself
	warned bool    // that there will be no verdict
	made   int
	spent  time.Duration // on runs, with all that belongs to them
	levels map[int][]float64
	looks  []int // numbers of rounds after which the runs are judged
}

// New makes the folder of the op logs. The options have passed Check.
func New(inv *command.Invocation, o Options) (*Trial, error) {
	o.Compare.Paired = true
	t := &Trial{Options: o, inv: inv, levels: map[int][]float64{}}
	var which []int
	var commands [][]string
	for i := range t.Sides {
		which, commands = append(which, i), append(commands, t.Sides[i].Settings)
	}
	t.sides = newSeries("", which, names(commands))
	t.noise = newSeries("noise", []int{0, 0}, []string{t.sides.names[0], t.sides.names[0] + " again"})
	for n := o.Rounds; n < o.MaxRounds; n += lookInterval {
		t.looks = append(t.looks, n)
	}
	t.looks = append(t.looks, o.MaxRounds)
	t.warnOfSameSides()
	return t, t.makeFolder()
}

func (t *Trial) warnOfSameSides() {
	for i := range t.Sides {
		for k := range i {
			switch {
			case !t.Sides[i].same(&t.Sides[k]):
			case len(t.Sides) == 2:
				t.inv.Warnf("both sides are the same, so any difference is noise")
			default:
				t.inv.Warnf("sides %s and %s are the same, so any difference between them is noise", Letter(k), Letter(i))
			}
		}
	}
}

// makeFolder makes the folder of the logs, which must be new.
func (t *Trial) makeFolder() error {
	if err := os.Mkdir(t.Folder, 0o755); err != nil {
		return exit.Usagef("--logs: cannot make the folder %s: %w", t.Folder, files.Reason(err)).WithHint("name one that does not exist")
	}
	made := []*series{t.sides}
	if t.AA {
		made = append(made, t.noise)
	}
	for _, s := range made {
		for member := range s.which {
			if err := os.MkdirAll(filepath.Join(t.Folder, s.kind, Letter(member)), 0o755); err != nil {
				return exit.Usagef("--logs: %w", err)
			}
		}
	}
	return nil
}

// Run makes all runs, or as many as it takes, and judges them. It returns comparisons of complete rounds even if a run
// failed, and nil if there is no round.
func (t *Trial) Run(ctx context.Context) (*compare.Comparisons, error) {
	t.announce()
	var noise *compare.Comparisons
	var failed error
	if t.AA {
		t.inv.Notef("first %s against itself", t.sides.names[0])
		if failed = t.makeRounds(ctx, t.noise, t.Rounds); failed == nil {
			noise, failed = t.judge(t.noise, nil)
		}
	}
	var c *compare.Comparisons
	var looks []compare.Look
	for i := 0; i < len(t.looks) && failed == nil; i++ {
		if failed = t.makeRounds(ctx, t.sides, t.looks[i]); failed != nil {
			break
		}
		var err error
		if c, err = t.judge(t.sides, t.level(i)); err != nil {
			return nil, err
		}
		if len(t.looks) > 1 {
			level := t.level(i)(max(1, c.Judged()))
			looks = append(looks, compare.Look{Pairs: t.looks[i], Level: level, Skipped: level == 0})
		}
		if c.Settled() {
			break
		}
	}
	if c == nil && failed != nil && t.sides.rounds() > 0 {
		var err error
		if c, err = t.judge(t.sides, nil); err != nil {
			return nil, exit.Join(failed, err)
		}
	}
	if c == nil {
		if failed == bench.ErrInterrupted {
			t.inv.Warnf("interrupted before the first %s was complete; the op logs so far are in %s", t.roundWord(), t.Folder)
		}
		return nil, failed
	}
	for _, v := range c.Comparisons {
		v.Looks, v.Folder, v.Order, v.Unfinished = looks, t.Folder, t.sides.order, failed != nil
	}
	if noise != nil {
		c.Comparisons[0].Noise = noise.Comparisons[0]
	}
	return c, failed
}

// announce says what is going to be run.
func (t *Trial) announce() {
	var benchmarks, sides []string
	for i := range t.Sides {
		if b := t.Sides[i].Benchmark; !slices.Contains(benchmarks, b) {
			benchmarks = append(benchmarks, b)
		}
		sides = append(sides, fmt.Sprintf("side %s is %s", Letter(i), t.sides.names[i]))
	}
	what := human.And(benchmarks)
	if n := len(t.Sides); n > 2 {
		what += fmt.Sprintf(" with %d sides, %d runs%s; a verdict takes at least %s", n, n*t.Rounds, t.takes(t.Rounds, " that take"), t.count(t.needed()))
	}
	t.inv.Notef("%s of %s; op logs go to %s", t.count(t.Rounds), what, t.Folder)
	if t.sides.names[0] != Letter(0) {
		t.inv.Notef("%s", strings.Join(sides, ", "))
	}
	t.warnOfFewRounds()
}

// roundWord returns the word for a round.
func (t *Trial) roundWord() string {
	if len(t.Sides) == 2 {
		return "pair"
	}
	return "round"
}

func (t *Trial) count(rounds int) string { return human.Plural(rounds, t.roundWord()) }

// takes returns the words, and how long the rounds take at least; "" if that is not known.
func (t *Trial) takes(rounds int, words string) string {
	round := time.Duration(0)
	for i := range t.Sides {
		if t.Sides[i].Length == 0 {
			return ""
		}
		round += t.Sides[i].Length + t.Pause
	}
	return fmt.Sprintf("%s at least %s", words, human.Brief(time.Duration(rounds)*round-t.Pause))
}

// needed returns the number of rounds for verdicts on all sides at the last look.
func (t *Trial) needed() int {
	o := t.Options
	o.Compare.Level = t.level(len(t.looks) - 1)
	return o.Needed()
}

// warnOfFewRounds says before the first run that all of them together cannot get a verdict.
func (t *Trial) warnOfFewRounds() {
	if n := t.needed(); t.MaxRounds < n {
		t.inv.Warnf("%s cannot get a verdict: use --pairs=%d%s", t.count(t.MaxRounds), n, t.takes(n, ", which takes"))
	}
}

// level returns the significance level at a look, by how many p-values are left.
func (t *Trial) level(look int) func(left int) float64 {
	if len(t.looks) == 1 {
		return func(left int) float64 { return compare.Alpha / float64(left) }
	}
	return func(left int) float64 {
		if t.levels[left] == nil {
			t.levels[left] = stats.Sequential(t.looks, compare.Alpha/float64(left))
		}
		return t.levels[left][look]
	}
}

// judge compares the members of a series in their complete rounds.
func (t *Trial) judge(s *series, level func(int) float64) (*compare.Comparisons, error) {
	o := t.Compare
	o.Level = level
	// The sides differ because they are meant to.
	o.Force = true
	rounds := s.rounds()
	sets := make([]compare.Set, len(s.runs))
	for i, runs := range s.runs {
		sets[i] = compare.Set{Name: s.names[i], Runs: runs[:rounds]}
	}
	c, err := compare.JudgeSets(sets, t.AllPairs, o)
	if err != nil {
		return nil, reports.ExplainComparison(err)
	}
	return c, nil
}

// makeRounds makes runs until there are n rounds.
func (t *Trial) makeRounds(ctx context.Context, s *series, n int) error {
	for s.rounds() < n {
		if len(s.pending) == 0 {
			s.pending = block(len(s.which))
		}
		for _, member := range s.pending[0] {
			if err := t.makeRun(ctx, s, member); err != nil {
				return err
			}
			s.order += Letter(member)
		}
		s.pending = s.pending[1:]
	}
	return nil
}

// makeRun makes one run of a member and reads its log.
func (t *Trial) makeRun(ctx context.Context, s *series, member int) error {
	if t.made > 0 && !pause.For(ctx, t.Pause) || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	name := fmt.Sprintf("%03d%s", len(s.runs[member])+1, oplog.Suffix)
	path := filepath.Join(t.Folder, s.kind, Letter(member), name)
	side := s.which[member]
	if err := t.prepare(ctx, side); err != nil {
		return err
	}
	what := &t.Sides[side]
	run := child.Command{Name: fmt.Sprintf("side %s (%s)", Letter(side), t.sides.names[side]), Args: what.Args, In: what.In}
	if err := child.Measure(ctx, t.inv, run, path); err != nil {
		t.setAside(path, member)
		return err
	}
	// What is complete counts, also where Ctrl-C came in the meantime.
	report, err := runlog.Analyze(context.WithoutCancel(ctx), path, nil, aggregate.Options{})
	if err != nil {
		return err
	}
	s.runs[member] = append(s.runs[member], compare.Run{Name: path, Report: report})
	t.made++
	t.spent += time.Since(began)
	t.sayProgress(s, member)
	return nil
}

// setAside moves the log of an incomplete run out of the folders of the complete ones.
func (t *Trial) setAside(path string, member int) {
	folder := filepath.Join(t.Folder, "incomplete")
	if _, err := os.Stat(path); err == nil && os.MkdirAll(folder, 0o755) == nil {
		_ = os.Rename(path, filepath.Join(folder, Letter(member)+"-"+filepath.Base(path)))
	}
}

// sayProgress shows the figures of the last run, and how long the rest will take.
func (t *Trial) sayProgress(s *series, member int) {
	all := len(t.Sides) * t.MaxRounds
	if t.AA {
		all += len(t.noise.which) * t.Rounds
	}
	left := time.Duration(all-t.made) * (t.spent/time.Duration(t.made) + t.Pause)
	n := len(s.runs[member])
	r := s.runs[member][n-1].Report
	atMost := "about"
	if len(t.looks) > 1 {
		atMost = "at most"
	}
	t.inv.Notef("run %d of %d, %s %d, %s: %s%s", t.made, all, t.roundWord(), n, s.names[member], child.Figures(r), child.Left(atMost, left))
	if why := compare.Unfit(r, t.Compare.MaxErrors); why != "" && !t.warned {
		t.warned = true // early, since the rest may take hours
		t.inv.Warnf("run %d cannot be judged, so there will be no verdict%s: %s", t.made, t.aboutSide(s, member), why)
	}
}

// aboutSide says which verdicts there will not be: a run of one of several sides concerns only its comparisons.
func (t *Trial) aboutSide(s *series, member int) string {
	if len(t.Sides) == 2 || s.which[member] == 0 {
		return ""
	}
	return " on " + s.names[member]
}
