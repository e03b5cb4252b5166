package compare

import (
	"iter"
	"slices"
	"time"

	"warp/pkg/hostload"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A Run is one run with the name of its file.
type Run struct {
	Name   string
	Report *results.Report
}

// Options control how runs are compared.
type Options struct {
	MinEffect float64   // smaller changes do not matter, as a share of the value before
	Judge     []Choice  // metrics that get a verdict; none means throughput, p50 and p99 of the total
	Also      []Choice  // metrics shown without a verdict
	Paired    bool      // run i of one side belongs to run i of the other
	MaxErrors float64   // the largest share of failed requests with which a run is still judged
	Hosts     bool      // also by host
	Names     [2]string // of the sides in the verdicts; "" = before and after
	Force     bool      // also compare different benchmarks, sizes and workloads

	// Level returns the significance level for the next p-value if left remain
	// to be judged; nil means Holm's procedure. Sequential comparisons have
	// stricter levels.
	Level func(left int) float64

	SameWorkload bool // refuse other workloads, unless Force is set

	planner *stats.Planner // shared by many comparisons
}

func (o *Options) level(left int) float64 {
	if o.Level == nil {
		return Alpha / float64(left)
	}
	return o.Level(left)
}

// Levels and limits of comparisons.
const (
	Alpha         = .05
	MaxErrors     = .001
	targetPower   = .8 // share of comparisons that find a detectable change
	minSide       = 4  // runs
	minPairs      = 6
	intervalLevel = .95            // of medians, and of changes without a verdict
	trendLevel    = .8             // of trends: only one in the direction of a change can be its cause, so each end is at 90 %
	trendReach    = 24 * time.Hour // from side to side; baselines are farther apart
)

// A Verdict is the result of comparing one metric.
type Verdict string

// The verdicts.
const (
	Equivalent Verdict = "equivalent" // the whole interval is within MinEffect
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Undecided  Verdict = "undecided"
	Withheld   Verdict = "withheld"    // something is wrong with the runs
	TooFew     Verdict = "too few"     // runs for any verdict
	NoRatio    Verdict = "differences" // the metric can be 0, so no ratio exists
)

// Verdicts are the result of a comparison of two sets of runs.
type Verdicts struct {
	Version    int                 `json:"version"` // 1
	Kind       string              `json:"kind"`    // "verdicts"
	Before     Side                `json:"before"`
	After      Side                `json:"after"`
	Paired     bool                `json:"paired"`
	MinEffect  float64             `json:"min_effect_percent"`
	Needed     int                 `json:"runs_needed"`          // per side, or pairs, for a verdict on all judged metrics
	Verdict    Verdict             `json:"verdict"`              // of all judged metrics: the first present of worse, withheld, too few, undecided, better, equivalent
	Sequence   *Sequence           `json:"sequence,omitempty"`   // if all runs of one side were made before the runs of the other
	Withheld   []string            `json:"withheld"`             // why there is no verdict despite enough runs; may be empty
	Warnings   []string            `json:"warnings"`             // may be empty
	Parameters []Parameter         `json:"parameters"`           // in which the sides differ
	Missing    []string            `json:"missing"`              // operations missing from some runs
	Subjects   []Subject           `json:"subjects"`             // the total or the only operation first
	Looks      []Look              `json:"looks,omitempty"`      // of a sequential comparison
	Noise      *Verdicts           `json:"noise,omitempty"`      // of the first side against itself; with several sides in the first comparison
	Folder     string              `json:"folder,omitempty"`     // directory of the logs
	Order      string              `json:"order,omitempty"`      // of the runs of all sides, a letter for each run
	Unfinished bool                `json:"unfinished,omitempty"` // the comparison ended before all runs were made
	Assertions []results.Assertion `json:"assertions,omitempty"` // about the change, in the order given

	Named bool `json:"-"` // the sides have names that tables can use
}

// A Side is one set of runs.
type Side struct {
	Name     string   `json:"name"`               // as given
	Command  string   `json:"command"`            // of the first run
	Workload string   `json:"workload,omitempty"` // identity of all runs; missing if it is unknown, or if they differ
	Runs     int      `json:"runs"`               // number
	Files    []string `json:"files"`              // that the runs were read from
	Warnings []string `json:"warnings"`           // of their reports without duplicates, except for reasons that withhold the verdict
}

// A Look is an interim analysis at which a comparison may end early.
type Look struct {
	Pairs   int     `json:"pairs"`
	Level   float64 `json:"level"` // significance level of the first step of Holm's procedure; 0 if no p-value could be small enough
	Skipped bool    `json:"skipped,omitempty"`
}

// A Subject is all operations, one operation, or one host's share of it.
type Subject struct {
	Op        string `json:"op"` // "" = all
	Statement int    `json:"statement,omitempty"`
	Warmup    bool   `json:"warmup,omitempty"`
	Stage     bool   `json:"stage,omitempty"` // the statement is a stage of --stages
	Host      string `json:"host,omitempty"`
	Rows      []Row  `json:"metrics"`
}

// A Row is the change of one metric.
type Row struct {
	Metric string       `json:"metric"`
	Unit   results.Unit `json:"unit"`
	Higher bool         `json:"higher_is_better"`
	Before Sample       `json:"before"`
	After  Sample       `json:"after"`
	Judged bool         `json:"judged"`

	Change *float64 `json:"change_percent"` // of the value before; null if that is 0
	Low    *float64 `json:"low_percent"`    // interval of the change; null if unbounded
	High   *float64 `json:"high_percent"`
	Level  float64  `json:"level,omitempty"` // confidence level of the interval, at least, from 0 to 1

	P          *float64 `json:"p,omitempty"`                  // of the exact test; only if judged
	Adjusted   *float64 `json:"p_holm,omitempty"`             // adjusted for all metrics judged together
	Verdict    Verdict  `json:"verdict,omitempty"`            // only if judged
	Detectable *float64 `json:"detectable_percent,omitempty"` // if undecided: the smallest change that this many runs detect in 4 of 5 cases
	Trend      *Trend   `json:"trend,omitempty"`              // within the sides, if one was made after the other
	Withheld   string   `json:"withheld,omitempty"`           // why this metric has no verdict although others may have one
	Target     *float64 `json:"target_percent,omitempty"`     // the change that runs_needed refers to
	Needed     int      `json:"runs_needed,omitempty"`        // runs per side, or pairs, of a new comparison that detects it in 4 of 5 cases; omitted above 1000

	clients bool // Withheld because it is the machine's, which more runs would not change
}

// A Sample is one metric in all runs of a side.
type Sample struct {
	Values []float64 `json:"values"` // in the order of the files
	Median float64   `json:"median"`
	Spread *float64  `json:"spread_percent"` // half-width of the median's 95 % interval on its wider side; null with fewer than 6 runs, or around 0
}

// A RefusedError says why two sets of runs cannot be compared.
type RefusedError struct {
	Reason string
	Forced bool // Options.Force would compare them anyway
}

func (e *RefusedError) Error() string { return e.Reason }

// Judge compares two sets of runs.
func Judge(before, after []Run, o Options) (*Verdicts, error) {
	all, err := JudgeSets([]Set{{o.Names[0], before}, {o.Names[1], after}}, false, o)
	if err != nil {
		return nil, err
	}
	return all.Comparisons[0], nil
}

// Rows returns the rows of all subjects, in the order of tables.
func (v *Verdicts) Rows() iter.Seq2[*Subject, *Row] {
	return func(yield func(*Subject, *Row) bool) {
		for i := range v.Subjects {
			for k := range v.Subjects[i].Rows {
				if !yield(&v.Subjects[i], &v.Subjects[i].Rows[k]) {
					return
				}
			}
		}
	}
}

// Judged returns the rows that are judged together.
func (v *Verdicts) Judged() (all []*Row) {
	for s, r := range v.Rows() {
		if r.Judged && s.Host == "" {
			all = append(all, r)
		}
	}
	return all
}

// overall returns the verdict on all judged metrics.
func (v *Verdicts) overall() Verdict {
	var all []Verdict
	for _, r := range v.Judged() {
		all = append(all, r.Verdict)
	}
	return Overall(all)
}

// Overall returns the verdict on everything that has these verdicts.
func Overall(all []Verdict) Verdict {
	for _, verdict := range []Verdict{Worse, Withheld, TooFew, Undecided, NoRatio, Better, Equivalent} {
		if slices.Contains(all, verdict) {
			return verdict
		}
	}
	return Undecided
}

// decided reports whether there is a verdict on all judged metrics.
func (v *Verdicts) decided() bool {
	o := v.overall()
	return o == Better || o == Equivalent ||
		o == Worse && !slices.ContainsFunc(v.Judged(), func(r *Row) bool { return r.Verdict == Undecided || r.Verdict == NoRatio })
}

// Row returns the row of a metric of an operation, "" for the total. With a
// single operation the total is that operation.
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
	for i, r := range runs {
		id := r.Report.Identity().ID
		if i == 0 {
			s.Command, s.Workload = r.Report.Command, id
		}
		if s.Workload != id {
			s.Workload = ""
		}
		s.Files = append(s.Files, r.Name)
		for _, w := range r.Report.Warnings {
			if !slices.Contains(s.Warnings, w) && !hostload.IsLimit(w) { // a client limit withholds the verdict, which already says so
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	return s
}
