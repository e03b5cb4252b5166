package compare

import (
	"slices"

	"warp/pkg/diff"
	"warp/pkg/hostload"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A Run is one run with the name of the file that it was read from.
type Run struct {
	Name   string
	Report *results.Report
}

// Options say how runs are compared.
type Options struct {
	MinEffect float64  // a change that is smaller does not matter, as a share of the value before
	Judge     []Choice // what gets a verdict; none means throughput, p50 and p99 of the total
	Also      []Choice // what is shown without a verdict
	Paired    bool     // run i of one side belongs to run i of the other
	MaxErrors float64  // the largest share of failed requests with which a run is judged
	Hosts     bool     // also by host
	Force     bool     // compare different benchmarks and sizes, too

	// Level returns the significance level of the next p-value, with so many left
	// to judge; nil means Holm's. Sequential comparisons have stricter levels.
	Level func(left int) float64

	// Default is the value that a parameter has where nobody sets it.
	Default diff.Defaults

	planner *stats.Planner // shared by many comparisons
}

// The defaults, of which the significance level is the only one that cannot be changed.
const (
	Alpha         = .05
	MinEffect     = .02
	MaxErrors     = .001
	Power         = .8 // share of comparisons that show what is called detectable
	minSide       = 4  // runs
	minPairs      = 6
	intervalLevel = .95 // of medians, and of changes that are not judged
)

// A Verdict is what a comparison says about a metric.
type Verdict string

// The verdicts.
const (
	Equivalent Verdict = "equivalent" // the whole interval is within the smallest effect that matters
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Undecided  Verdict = "undecided"
	Withheld   Verdict = "withheld"    // something is wrong with the runs
	TooFew     Verdict = "too few"     // runs for any verdict
	NoRatio    Verdict = "differences" // the metric can be 0, so there is no ratio to judge
)

// Verdicts are the result of a comparison of two sets of runs.
type Verdicts struct {
	Version    int                 `json:"version"` // 1
	Kind       string              `json:"kind"`    // "verdicts"
	Before     Side                `json:"before"`
	After      Side                `json:"after"`
	Paired     bool                `json:"paired"`
	MinEffect  float64             `json:"min_effect_percent"`
	Needed     int                 `json:"runs_needed"`          // a side, or pairs, for any verdict on what is judged together
	Verdict    Verdict             `json:"verdict"`              // of all that is judged: the first there is of worse, withheld, too few, undecided, better, equivalent
	Withheld   []string            `json:"withheld"`             // why no verdict is given although there are enough runs; may be empty
	Warnings   []string            `json:"warnings"`             // what a reader should know; may be empty
	Parameters []diff.Parameter    `json:"parameters"`           // in which the sides differ
	Missing    []string            `json:"missing"`              // operations that not all runs have
	Subjects   []Subject           `json:"subjects"`             // the total or the only operation first
	Looks      []Look              `json:"looks,omitempty"`      // of a comparison that may end early
	Noise      *Verdicts           `json:"noise,omitempty"`      // of the first side with itself
	Folder     string              `json:"folder,omitempty"`     // where the logs of the runs are
	Order      string              `json:"order,omitempty"`      // in which the sides were run, as a and b
	Unfinished bool                `json:"unfinished,omitempty"` // the comparison was ended before all runs were made
	Assertions []results.Assertion `json:"assertions,omitempty"` // about the change, in the order in which they were given
}

// A Side is one set of runs.
type Side struct {
	Name     string   `json:"name"`     // as it was asked for
	Command  string   `json:"command"`  // of the first run
	Runs     int      `json:"runs"`     // number
	Files    []string `json:"files"`    // that they were read from
	Warnings []string `json:"warnings"` // of their reports, each once, apart from those that keep the verdict back
}

// A Look is one at which a comparison may end early.
type Look struct {
	Pairs   int     `json:"pairs"`
	Level   float64 `json:"level"` // significance level of the first step of Holm's procedure; 0 where no p-value could be small enough
	Skipped bool    `json:"skipped,omitempty"`
}

// A Subject is what rows are about: all operations, one of them, or one host's part of it.
type Subject struct {
	Op        string `json:"op"` // "" = all
	Statement int    `json:"statement,omitempty"`
	Warmup    bool   `json:"warmup,omitempty"`
	Host      string `json:"host,omitempty"`
	Rows      []Row  `json:"metrics"`
}

// A Row is what changed in one metric.
type Row struct {
	Metric string       `json:"metric"`
	Unit   results.Unit `json:"unit"`
	Higher bool         `json:"higher_is_better"`
	Before Sample       `json:"before"`
	After  Sample       `json:"after"`
	Judged bool         `json:"judged"`

	Change *float64 `json:"change_percent"` // of the value before; null where that is 0
	Low    *float64 `json:"low_percent"`    // interval of the change; null where it has no such bound
	High   *float64 `json:"high_percent"`
	Level  float64  `json:"level,omitempty"` // of the interval, 0 to 1, at least

	P          *float64 `json:"p,omitempty"`                  // of the exact test; only where judged
	Adjusted   *float64 `json:"p_holm,omitempty"`             // for all that is judged together
	Verdict    Verdict  `json:"verdict,omitempty"`            // only where judged
	Detectable *float64 `json:"detectable_percent,omitempty"` // where undecided: the smallest change that so many runs show in 4 of 5 cases
	Target     *float64 `json:"target_percent,omitempty"`     // change that runs_needed is about
	Needed     int      `json:"runs_needed,omitempty"`        // runs a side, or pairs, of a new comparison that shows it in 4 of 5 cases; left out beyond 1000
}

// A Sample is a metric of all runs of a side.
type Sample struct {
	Values []float64 `json:"values"` // in the order of the files
	Median float64   `json:"median"`
	Spread *float64  `json:"spread_percent"` // half-width of the median's 95 % interval at its wider side; null with fewer than 6 runs, and around 0
}

// RefusedError says why two sets cannot be compared.
type RefusedError struct {
	Reason string
	Forced bool // Options.Force would compare them all the same
}

func (e *RefusedError) Error() string { return e.Reason }

// Judge compares two sets of runs.
func Judge(before, after []Run, o Options) (*Verdicts, error) {
	c := &comparison{Options: o, before: before, after: after, planner: o.planner}
	if c.planner == nil {
		c.planner = &stats.Planner{}
	}
	if c.Level == nil {
		c.Level = func(left int) float64 { return Alpha / float64(left) }
	}
	v := &Verdicts{
		Version: 1, Kind: "verdicts", Before: side(before), After: side(after), Paired: o.Paired, MinEffect: 100 * o.MinEffect,
		Withheld: []string{}, Warnings: []string{}, Parameters: []diff.Parameter{}, Missing: []string{}, Subjects: []Subject{},
	}
	if err := c.check(v); err != nil {
		return nil, err
	}
	subjects, missing := c.subjects()
	v.Missing = append(v.Missing, missing...)
	if err := c.tables(v, subjects); err != nil {
		return nil, err
	}
	v.Verdict = v.overall()
	return v, nil
}

// Judged are the rows that are judged together.
func (v *Verdicts) Judged() (all []*Row) {
	for i := range v.Subjects {
		for k := range v.Subjects[i].Rows {
			if r := &v.Subjects[i].Rows[k]; r.Judged && v.Subjects[i].Host == "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// overall is the verdict on all that is judged.
func (v *Verdicts) overall() Verdict {
	judged := v.Judged()
	for _, verdict := range []Verdict{Worse, Withheld, TooFew, Undecided, NoRatio, Better, Equivalent} {
		if slices.ContainsFunc(judged, func(r *Row) bool { return r.Verdict == verdict }) {
			return verdict
		}
	}
	return Undecided
}

// Decided reports whether there is a verdict on all that is judged.
func (v *Verdicts) Decided() bool {
	o := v.overall()
	return o == Better || o == Equivalent ||
		o == Worse && !slices.ContainsFunc(v.Judged(), func(r *Row) bool { return r.Verdict == Undecided || r.Verdict == NoRatio })
}

// Row finds the row about a metric of an operation, "" for the total, which is
// the only operation where there is one.
func (v *Verdicts) Row(op, metric string) (Row, bool) {
	for i, s := range v.Subjects {
		if s.Host != "" || s.Warmup || s.Op != op && (op != "" || i > 0) {
			continue
		}
		for _, r := range s.Rows {
			if r.Metric == metric {
				return r, true
			}
		}
	}
	return Row{}, false
}

func side(runs []Run) Side {
	s := Side{Runs: len(runs), Files: []string{}, Warnings: []string{}}
	seen := map[string]bool{}
	for i, r := range runs {
		if i == 0 {
			s.Command = r.Report.Command
		}
		s.Files = append(s.Files, r.Name)
		for _, w := range r.Report.Warnings {
			if !seen[w] && !hostload.IsLimit(w) { // that keeps the verdict back, which says so
				seen[w] = true
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	return s
}
