// Package trial runs two benchmarks alternately, each run in a process of its own,
// and judges which one is better.
package trial

import (
	"context"
	"crypto/rand"
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
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/compare"
	"warp/pkg/stats"
)

const (
	lookInterval = 4 // pairs
	maxPairs     = 1000
)

// Options say which sides are run, and how often.
type Options struct {
	Sides    [2]Side
	Pairs    int
	MaxPairs int // continue up to this number until decided; 0 = Pairs
	Pause    time.Duration
	AA       bool   // first compare side A with itself
	Folder   string // for the op logs; must not exist
	Compare  compare.Options
}

// Check checks the numbers of pairs.
func (o *Options) Check() error {
	if o.MaxPairs == 0 {
		o.MaxPairs = o.Pairs
	}
	switch {
	case o.Pairs > maxPairs:
		return exit.Usagef("--pairs=%d is more than %d", o.Pairs, maxPairs)
	case o.MaxPairs < o.Pairs:
		return exit.Usagef("--max-pairs=%d is less than --pairs=%d", o.MaxPairs, o.Pairs)
	case o.MaxPairs > o.Pairs && o.MaxPairs > stats.MaxSequential:
		return exit.Usagef("--max-pairs=%d is more than %d, up to which the levels of several looks are computed exactly", o.MaxPairs, stats.MaxSequential).
			WithHint("use --pairs=%d for a comparison with one look", o.MaxPairs)
	}
	return nil
}

// A Side is one of the two benchmarks.
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

// A Trial is a comparison of two sides while it is made.
type Trial struct {
	Options
	inv    *command.Invocation
	names  [2]string // of the sides
	runs   [2][]compare.Run
	noise  [2][]compare.Run
	warned bool   // that there will be no verdict
	order  string // of the runs that were made
	made   int
	spent  time.Duration // on runs, with all that belongs to them
	levels map[int][]float64
	looks  []int // numbers of pairs after which the runs are judged
}

// New makes the folder of the op logs. The options have passed Check.
func New(inv *command.Invocation, o Options) (*Trial, error) {
	o.Compare.Paired = true
	t := &Trial{Options: o, inv: inv, names: names(o.Sides[0].Settings, o.Sides[1].Settings), levels: map[int][]float64{}}
	for n := o.Pairs; n < o.MaxPairs; n += lookInterval {
		t.looks = append(t.looks, n)
	}
	t.looks = append(t.looks, o.MaxPairs)
	if t.Sides[0].same(&t.Sides[1]) {
		inv.Warnf("both sides are the same, so all that can be found is noise")
	}
	return t, t.makeFolder()
}

// makeFolder makes the folder of the logs, which must be new.
func (t *Trial) makeFolder() error {
	if err := os.Mkdir(t.Folder, 0o755); err != nil {
		return exit.Usagef("--logs: cannot make the folder %s: %w", t.Folder, files.Reason(err)).WithHint("name one that does not exist")
	}
	for _, side := range t.folders() {
		if err := os.MkdirAll(filepath.Join(t.Folder, side), 0o755); err != nil {
			return exit.Usagef("--logs: %w", err)
		}
	}
	return nil
}

func (t *Trial) folders() []string {
	if t.AA {
		return []string{"a", "b", filepath.Join("noise", "a"), filepath.Join("noise", "b")}
	}
	return []string{"a", "b"}
}

// Run makes all runs, or as many as it takes, and judges them. It returns verdicts about complete pairs even if a run
// failed, and nil if there is no pair.
func (t *Trial) Run(ctx context.Context) (*compare.Verdicts, error) {
	t.inv.Notef("%s of %s; op logs go to %s", human.Count(t.Pairs, "pair", "pairs"), strings.Join(distinct(t.Sides[0].Benchmark, t.Sides[1].Benchmark), " and "), t.Folder)
	if a, b := t.names[0], t.names[1]; a != "a" {
		t.inv.Notef("side a is %s, side b is %s", a, b)
	}
	t.warnOfFewPairs()
	var noise *compare.Verdicts
	var failed error
	if t.AA {
		t.inv.Notef("first %s with itself", t.names[0])
		if failed = t.makePairs(ctx, &t.noise, t.Pairs, "noise", [2]int{0, 0}); failed == nil {
			noise, failed = t.judgePairs(&t.noise, nil)
		}
	}
	var v *compare.Verdicts
	var looks []compare.Look
	for i := 0; i < len(t.looks) && failed == nil; i++ {
		if failed = t.makePairs(ctx, &t.runs, t.looks[i], "", [2]int{0, 1}); failed != nil {
			break
		}
		var err error
		if v, err = t.judgePairs(&t.runs, t.level(i)); err != nil {
			return nil, err
		}
		if len(t.looks) > 1 {
			level := t.level(i)(max(1, len(v.Judged())))
			looks = append(looks, compare.Look{Pairs: t.looks[i], Level: level, Skipped: level == 0})
		}
		if v.Decided() || len(v.Withheld) > 0 {
			break
		}
	}
	if v == nil && failed != nil && len(t.complete(&t.runs)[0]) > 0 {
		var err error
		if v, err = t.judgePairs(&t.runs, nil); err != nil {
			return nil, exit.Join(failed, err)
		}
	}
	if v == nil {
		if failed == bench.ErrInterrupted {
			t.inv.Warnf("interrupted before there was a pair to compare; what was recorded is in %s", t.Folder)
		}
		return nil, failed
	}
	v.Looks, v.Noise, v.Folder, v.Order, v.Unfinished = looks, noise, t.Folder, t.order, failed != nil
	return v, failed
}

// warnOfFewPairs says before the first run that all of them together cannot get a verdict.
func (t *Trial) warnOfFewPairs() {
	o := t.Compare
	o.Level = t.level(len(t.looks) - 1)
	n := o.Needed()
	if t.MaxPairs >= n {
		return
	}
	length := t.Sides[0].Length + t.Sides[1].Length + 2*t.Pause
	took := ""
	if t.Sides[0].Length > 0 && t.Sides[1].Length > 0 {
		took = fmt.Sprintf(", which takes at least %s", human.Brief(time.Duration(n)*length-t.Pause))
	}
	t.inv.Warnf("%s cannot get a verdict: use --pairs=%d%s", human.Count(t.MaxPairs, "pair", "pairs"), n, took)
}

func distinct(all ...string) []string { return slices.Compact(all) }

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

// complete returns the runs of complete pairs.
func (t *Trial) complete(runs *[2][]compare.Run) (pairs [2][]compare.Run) {
	n := min(len(runs[0]), len(runs[1]))
	return [2][]compare.Run{runs[0][:n], runs[1][:n]}
}

func (t *Trial) judgePairs(runs *[2][]compare.Run, level func(int) float64) (*compare.Verdicts, error) {
	o := t.Compare
	o.Level = level
	o.Names = t.names
	if runs == &t.noise {
		o.Names[1] = o.Names[0] + " again"
	}
	// The sides differ because they are meant to.
	o.Force = true
	pairs := t.complete(runs)
	v, err := compare.Judge(pairs[0], pairs[1], o)
	if err != nil {
		return nil, reports.ExplainComparison(err)
	}
	return v, nil
}

// makePairs makes runs until there are n pairs. Two pairs are a block, ABBA or
// BAAB, so that a slow drift affects both sides equally. A coin decides for each
// block, because an effect that recurs every fourth run would otherwise affect one
// side only.
func (t *Trial) makePairs(ctx context.Context, runs *[2][]compare.Run, n int, kind string, which [2]int) error {
	for len(runs[0]) < n {
		for _, side := range block(min(2, n-len(runs[0])), coin()) {
			if err := t.makeRun(ctx, runs, side, which[side], kind); err != nil {
				return err
			}
			if kind == "" {
				t.order += string("ab"[side])
			}
		}
	}
	return nil
}

// block is the order of the sides of one pair or two.
func block(pairs int, turned bool) []int {
	order := []int{0, 1, 1, 0}[:2*pairs]
	if turned {
		for i := range order {
			order[i] = 1 - order[i]
		}
	}
	return order
}

func coin() bool {
	var b [1]byte
	_, _ = rand.Read(b[:]) // never fails
	return b[0]&1 == 1
}

// makeRun makes one run of a side and reads its log. which is the side whose
// benchmark it is.
func (t *Trial) makeRun(ctx context.Context, runs *[2][]compare.Run, side, which int, kind string) error {
	if t.made > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(t.Pause):
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	name := fmt.Sprintf("%03d%s", len(runs[side])+1, runlog.Suffix)
	path := filepath.Join(t.Folder, kind, string("ab"[side]), name)
	if err := t.prepare(ctx, which); err != nil {
		return err
	}
	what := &t.Sides[which]
	run := child.Run{Name: fmt.Sprintf("side %c (%s)", "ab"[which], t.names[which]), Args: what.Args, In: what.In}
	if err := child.Measure(ctx, t.inv, run, path); err != nil {
		t.setAside(path, side)
		return err
	}
	// What is complete counts, also where Ctrl-C came in the meantime.
	report, err := runlog.Analyze(context.WithoutCancel(ctx), path, nil, aggregate.Options{})
	if err != nil {
		return err
	}
	runs[side] = append(runs[side], compare.Run{Name: path, Report: report})
	t.made++
	t.spent += time.Since(began)
	t.sayProgress(runs, side, kind)
	return nil
}

// setAside moves the log of an incomplete run out of the folders of the complete ones.
func (t *Trial) setAside(path string, side int) {
	folder := filepath.Join(t.Folder, "incomplete")
	if _, err := os.Stat(path); err == nil && os.MkdirAll(folder, 0o755) == nil {
		_ = os.Rename(path, filepath.Join(folder, string("ab"[side])+"-"+filepath.Base(path)))
	}
}

// sayProgress shows the figures of the last run, and how long the rest will take.
func (t *Trial) sayProgress(runs *[2][]compare.Run, side int, kind string) {
	all := 2 * t.MaxPairs
	if t.AA {
		all += 2 * t.Pairs
	}
	left := time.Duration(all-t.made) * (t.spent/time.Duration(t.made) + t.Pause)
	r := runs[side][len(runs[side])-1].Report
	figures := ""
	if f, ok := r.Total(); ok {
		figures = ": " + human.Throughput(f.BytesPerS, f.ObjectsPerS, f.HasBytes)
		if f.Duration != nil {
			figures += ", 99%: " + human.Millis(f.Duration.P99)
		}
	}
	name := t.names[side]
	if kind != "" {
		name = []string{t.names[0], t.names[0] + " again"}[side]
	}
	atMost := "about"
	if len(t.looks) > 1 {
		atMost = "at most"
	}
	t.inv.Notef("run %d of %d, pair %d, %s%s; %s %s left", t.made, all, len(runs[side]), name, figures, atMost, human.Duration(left.Round(time.Second)))
	if why := compare.Unfit(r, t.Compare.MaxErrors); why != "" && !t.warned {
		t.warned = true // early, since the rest may take hours
		t.inv.Warnf("run %d cannot be judged, so there will be no verdict: %s", t.made, why)
	}
}
