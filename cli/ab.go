package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/newfile"
	"warp/cli/runlog"
	"warp/internal/human"
	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/compare"
	"warp/pkg/stats"
)

// abFlags say what two sides are run, and how often.
type abFlags struct {
	a, b           string
	vars           []string // of a file
	aSetup, bSetup string
	pairs, most    int
	pause          time.Duration
	aa             bool
	folder         string
	judge          judgeFlags
	asserts        assertFlags
	html           htmlFlag
}

const (
	lookEvery    = 4 // pairs
	maxPairs     = 1000
	setupTimeout = 10 * time.Minute
)

// abCommand runs two benchmarks in turns and judges which one is better.
func abCommand(env command.Environment) *command.Command {
	f := &abFlags{}
	return &command.Command{
		Name: "ab", Args: "[BENCHMARK|FILE [flags]]", Section: command.SectionOther,
		Summary: "run two benchmarks alternately and say which is better",
		About: []string{
			"--a and --b are complete command lines, or only the flags that each adds to BENCHMARK and its flags.",
			"Or the sides are the two benchmarks in FILE, a file of warp run. Each run is a separate process.",
		},
		Examples: []string{
			"warp ab --a 'get --host=old:9000 --duration=1m' --b 'get --host=new:9000 --duration=1m'",
			"warp ab --max-pairs=16 --a=--host=old:9000 --b=--host=new:9000 get --duration=1m",
			"warp ab two.yml --duration=1m",
		},
		Groups: []command.Group{{Title: "Sides", Flags: []cli.Flag{
			&cli.StringFlag{Name: "a", Destination: &f.a, Usage: "`COMMAND` or flags of side A, quoted as in a shell"},
			&cli.StringFlag{Name: "b", Destination: &f.b, Usage: "`COMMAND` or flags of side B, quoted as in a shell"},
			&flagtype.List{Name: "var", Destination: &f.vars, Usage: "replace {{.NAME}} in the file, with `NAME=VALUE`; repeatable"},
			&cli.StringFlag{Name: "a-setup", Destination: &f.aSetup, Usage: "shell `COMMAND` to run before each run of side A"},
			&cli.StringFlag{Name: "b-setup", Destination: &f.bSetup, Usage: "shell `COMMAND` to run before each run of side B"},
		}}, {Title: command.RunTitle, Flags: []cli.Flag{
			&cli.IntFlag{Name: "pairs", Value: 8, Destination: &f.pairs, Validator: atLeast(1), Usage: "run each side `N` times"},
			&cli.IntFlag{Name: "max-pairs", Destination: &f.most, Validator: atLeast(1), DefaultText: "as many as --pairs",
				Usage: "continue up to `N` pairs until decided"},
			&flagtype.Duration{Name: "pause", Value: 2 * time.Second, Destination: &f.pause, Usage: "pause for `TIME` between runs"},
			&cli.BoolFlag{Name: "aa", Destination: &f.aa, Usage: "first compare side A with itself, with as many runs"},
			&cli.StringFlag{Name: "logs", Destination: &f.folder, DefaultText: "warp-ab-TIME-ID", Usage: "keep the op logs in a new `FOLDER`"},
			f.html.flag(),
		}}, {Title: command.VerdictTitle, Flags: f.judge.flags()}, {Title: command.AssertionsTitle, Flags: f.asserts.changeFlags()}},
		ForwardedFlags: command.Without(benchmarkFlags(env), append(runAssertions(), "html")...),
		MinArgs:        0, MaxArgs: 1, Needs: "at most one benchmark or file",
		Run: func(ctx context.Context, inv *command.Invocation) error {
			t, err := f.plan(ctx, inv)
			if err != nil {
				return err
			}
			return t.run(ctx)
		},
	}
}

// A trial is a comparison of two sides while it is made.
type trial struct {
	*abFlags
	inv     *command.Invocation
	options compare.Options
	sides   [2]side
	runs    [2][]compare.Run
	noise   [2][]compare.Run
	warned  bool   // that there will be no verdict
	order   string // of the runs that were made
	made    int
	spent   time.Duration // on runs, with all that belongs to them
	levels  map[int][]float64
	looks   []int
}

// A side is what is run in turns with another one.
type side struct {
	benchmark string   // with its place, where it is from a file
	args      []string // of warp
	in        string   // standard input
	setup     string   // command for the shell before each run
}

func (s *side) same(o *side) bool {
	return slices.Equal(s.args, o.args) && s.in == o.in && s.setup == o.setup
}

// plan checks everything before anything is run.
func (f *abFlags) plan(ctx context.Context, inv *command.Invocation) (*trial, error) {
	t := &trial{abFlags: f, inv: inv, levels: map[int][]float64{}}
	if f.most == 0 {
		f.most = f.pairs
	}
	switch {
	case f.pairs > maxPairs:
		return nil, exit.Usagef("--pairs=%d is more than %d", f.pairs, maxPairs)
	case f.most < f.pairs:
		return nil, exit.Usagef("--max-pairs=%d is less than --pairs=%d", f.most, f.pairs)
	case f.most > f.pairs && f.most > stats.MaxSequential:
		return nil, exit.Usagef("--max-pairs=%d is more than %d, up to which the levels of several looks are computed exactly", f.most, stats.MaxSequential).
			WithHint("use --pairs=%d for a comparison with one look", f.most)
	}
	for n := f.pairs; n < f.most; n += lookEvery {
		t.looks = append(t.looks, n)
	}
	t.looks = append(t.looks, f.most)
	err := f.asserts.parse(true)
	if err == nil {
		err = f.html.ready()
	}
	if err != nil {
		return nil, err
	}
	if t.options, err = f.judge.options(inv.Env); err != nil {
		return nil, err
	}
	t.options.Paired = true
	f.asserts.comparison(&t.options)
	if t.sides, err = f.twoSides(ctx, inv); err != nil {
		return nil, err
	}
	t.sides[0].setup, t.sides[1].setup = f.aSetup, f.bSetup
	if t.sides[0].same(&t.sides[1]) {
		inv.Warnf("both sides are the same, so all that can be found is noise")
	}
	return t, t.makeFolder()
}

// twoSides finds out what is run, and whether it would begin.
func (f *abFlags) twoSides(ctx context.Context, inv *command.Invocation) (sides [2]side, err error) {
	var own [2][]string
	for i, text := range []string{f.a, f.b} {
		if own[i], err = shellquote.Split(text); err != nil {
			return sides, exit.Usagef("%s: %s", sideFlag(i), strings.ToLower(err.Error())).WithHint("quote it as for a shell")
		}
	}
	a := &app{env: inv.Env, in: inv.In}
	if len(inv.Args) > 0 && isRunFile(a.table(), inv.Args[0]) {
		return f.fileSides(ctx, inv, a, own)
	}
	if len(f.vars) > 0 {
		return sides, exit.Usagef("--var is for a file, and there is none").WithHint("write warp ab FILE, or leave it out")
	}
	for i := range sides {
		if sides[i], err = flagSide(inv, a, sideFlag(i), own[i]); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

func sideFlag(i int) string { return "--" + string("ab"[i]) }

// flagSide is a side that the command line describes.
func flagSide(inv *command.Invocation, a *app, flag string, own []string) (side, error) {
	args := slices.Concat(inv.Args, inv.ForwardedArgs, own)
	if len(own) > 0 && !strings.HasPrefix(own[0], "-") {
		if len(inv.Args) > 0 {
			return side{}, exit.Usagef("%s names the benchmark %s, and %s is there for both sides", flag, own[0], inv.Args[0]).WithHint("give it once")
		}
		args = slices.Concat(own[:1], inv.ForwardedArgs, own[1:])
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return side{}, exit.Usagef("%s does not say which benchmark to run", flag).WithHint("write %s 'get …', or the benchmark after the flags of warp ab", flag)
	}
	line := a.table().Scan(args)
	if line.Command != nil && line.Command.Check == nil {
		return side{}, exit.Usagef("%s: the command %s is no benchmark", flag, line.Command.Name)
	}
	if err := checkSide(inv.Env, line); err != nil {
		return side{}, exit.Withf(exit.Code(err), "%s: %w", flag, err)
	}
	return side{benchmark: line.Command.Name, args: args}, nil
}

// checkSide finds out whether a benchmark would begin.
func checkSide(env command.Environment, line *command.Line) error {
	if err := line.Parse(env); err != nil {
		return err
	}
	for _, name := range runAssertions() {
		if line.Command.WasGiven(name) {
			return exit.Usagef("--%s is about a single run", name).WithHint("give --assert to warp ab, about the change, such as 'GET.p99.change<+5%%'")
		}
	}
	for _, name := range []string{"benchdata", "stress", "stdout", "dry-run", "json", "analyze.out", "html", "web", "serve", "stats-output", "syncstart", "forever", "pprofdir", "upload"} {
		if line.Command.WasGiven(name) {
			return exit.Usagef("--%s cannot be used in warp ab, which makes many runs", name).WithHint("leave it out")
		}
	}
	return line.Command.Check(false)
}

// makeFolder makes the folder of the logs, which must be new.
func (t *trial) makeFolder() error {
	if t.folder == "" {
		// Without the brackets of names of logs, which patterns of names take for sets.
		t.folder = "warp-ab-" + time.Now().Format("20060102-150405") + "-" + randomID()
	}
	if err := os.Mkdir(t.folder, 0o755); err != nil {
		return exit.Usagef("--logs: cannot make the folder %s: %w", t.folder, newfile.Reason(err)).WithHint("name one that does not exist")
	}
	for _, side := range t.folders() {
		if err := os.MkdirAll(filepath.Join(t.folder, side), 0o755); err != nil {
			return exit.Usagef("--logs: %w", err)
		}
	}
	return nil
}

func (t *trial) folders() []string {
	if t.aa {
		return []string{"a", "b", filepath.Join("noise", "a"), filepath.Join("noise", "b")}
	}
	return []string{"a", "b"}
}

// run makes all runs, or as many as it takes, and shows what they say.
func (t *trial) run(ctx context.Context) error {
	t.inv.Notef("%s of %s; op logs go to %s", human.Count(t.pairs, "pair", "pairs"), strings.Join(distinct(t.sides[0].benchmark, t.sides[1].benchmark), " and "), t.folder)
	var noise *compare.Verdicts
	var failed error
	if t.aa {
		t.inv.Notef("the first side with itself")
		if failed = t.makePairs(ctx, &t.noise, t.pairs, "noise", [2]int{0, 0}); failed == nil {
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
			return err
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
			return exit.Join(failed, err)
		}
	}
	if v == nil {
		if failed == bench.ErrInterrupted {
			t.inv.Warnf("interrupted before there was a pair to compare; what was recorded is in %s", t.folder)
		}
		return failed
	}
	v.Looks, v.Noise, v.Folder, v.Order, v.Unfinished = looks, noise, t.folder, t.order, failed != nil
	return exit.Join(failed, concludeChanges(t.inv, v, &t.asserts, &t.html))
}

func distinct(all ...string) []string { return slices.Compact(all) }

// level returns the significance level at a look, by how many p-values are left.
func (t *trial) level(look int) func(left int) float64 {
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

// complete are the runs of pairs of which both were made.
func (t *trial) complete(runs *[2][]compare.Run) (pairs [2][]compare.Run) {
	n := min(len(runs[0]), len(runs[1]))
	return [2][]compare.Run{runs[0][:n], runs[1][:n]}
}

func (t *trial) judgePairs(runs *[2][]compare.Run, level func(int) float64) (*compare.Verdicts, error) {
	o := t.options
	o.Level = level
	// The sides differ because they are meant to.
	o.Force = true
	pairs := t.complete(runs)
	v, err := compare.Judge(pairs[0], pairs[1], o)
	if err != nil {
		return nil, refused(err)
	}
	v.Before.Name, v.After.Name = "a", "b"
	if runs == &t.noise {
		v.After.Name = "a again"
	}
	return v, nil
}

// makePairs goes on until there are n pairs. Each two of them are a block, made
// as ABBA or BAAB: what drifts slowly is then on both sides alike. Which one
// it is, chance decides for each block, since what recurs every fourth run
// would be on one side otherwise.
func (t *trial) makePairs(ctx context.Context, runs *[2][]compare.Run, n int, kind string, which [2]int) error {
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
func (t *trial) makeRun(ctx context.Context, runs *[2][]compare.Run, side, which int, kind string) error {
	if t.made > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(t.pause):
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := time.Now()
	name := fmt.Sprintf("%03d%s", len(runs[side])+1, logSuffix)
	path := filepath.Join(t.folder, kind, string("ab"[side]), name)
	if err := t.prepare(ctx, which); err != nil {
		return err
	}
	if err := t.child(ctx, which, path); err != nil {
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

// setAside moves the log of a run that was not completed out of the way of those that are compared.
func (t *trial) setAside(path string, side int) {
	folder := filepath.Join(t.folder, "incomplete")
	if _, err := os.Stat(path); err == nil && os.MkdirAll(folder, 0o755) == nil {
		_ = os.Rename(path, filepath.Join(folder, string("ab"[side])+"-"+filepath.Base(path)))
	}
}

// sayProgress tells what the run has measured, and how long the rest will take.
func (t *trial) sayProgress(runs *[2][]compare.Run, side int, kind string) {
	all := 2 * t.most
	if t.aa {
		all += 2 * t.pairs
	}
	left := time.Duration(all-t.made) * (t.spent/time.Duration(t.made) + t.pause)
	r := runs[side][len(runs[side])-1].Report
	figures := ""
	if f, ok := r.Total(); ok {
		figures = ": " + human.Throughput(f.BytesPerS, f.ObjectsPerS, f.HasBytes)
		if f.Duration != nil {
			figures += ", 99%: " + human.Millis(f.Duration.P99)
		}
	}
	name := string("ab"[side])
	if kind != "" {
		name = "a with itself, " + name
	}
	atMost := "about"
	if len(t.looks) > 1 {
		atMost = "at most"
	}
	t.inv.Notef("run %d of %d, pair %d, %s%s; %s %s left", t.made, all, len(runs[side]), name, figures, atMost, human.Duration(left.Round(time.Second)))
	if why := compare.Unfit(r, t.options.MaxErrors); why != "" && !t.warned {
		t.warned = true // early, since the rest may take hours
		t.inv.Warnf("run %d cannot be judged, so there will be no verdict: %s", t.made, why)
	}
}
