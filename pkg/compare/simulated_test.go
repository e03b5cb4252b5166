package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/results"
	"warp/pkg/stats"
)

var simulated = flag.Int("simulated", comparisons, "number of comparisons to simulate")

// A machine makes runs of dependent requests: slow ones follow each other, and whole runs differ in
// speed.
type machine struct {
	random *rand.Rand
	runs   int
	quiet  bool    // runs differ less within than by chance, as on a quiet machine
	slower float64 // share by which each run is slower than the one before
}

const (
	requests    = 500 // per run
	correlation = .95 // of the logarithms of the times of consecutive requests
	scatter     = .1  // of these logarithms
	drift       = .01 // of the logarithms of whole runs
)

// run returns a run whose requests take factor times as long.
func (m *machine) run(factor float64) Run {
	m.runs++
	times := make([]float64, requests)
	x, sum := m.random.NormFloat64(), 0.0
	factor *= math.Exp(drift*m.random.NormFloat64() + math.Log1p(m.slower)*float64(m.runs))
	scatter := scatter
	if m.quiet {
		scatter /= 5
	}
	for i := range times {
		x = correlation*x + math.Sqrt(1-correlation*correlation)*m.random.NormFloat64()
		times[i] = factor * math.Exp(scatter*x)
		sum += times[i]
	}
	slices.Sort(times)
	o := results.Operation{
		Op: "GET", Inside: requests, ObjectBytes: results.SizeRange{Min: 1, Max: 1, Mean: 1}, BytesPerS: requests / sum, ObjectsPerS: requests / sum,
		Duration: &results.Stats{Count: requests, Mean: sum / requests, P50: times[requests/2], P90: times[requests*9/10],
			P99: times[requests*99/100], P999: times[requests-1], Max: times[requests-1]},
	}
	return Run{fmt.Sprint(m.runs), &results.Report{
		Runs: []string{fmt.Sprint(m.runs)}, Groups: []results.GroupReport{{Kind: "measured"}}, Operations: []results.Operation{o}}}
}

func (m *machine) side(n int, factor float64) (all []Run) {
	for range n {
		all = append(all, m.run(factor))
	}
	return all
}

// A score contains the results of many comparisons.
type score struct {
	comparisons, alarms int // of any judged metric
	intervals, covered  int
	level               float64 // sum over intervals
	shown               int     // throughput was found to differ
	variance            float64 // variance of throughput, as the comparisons estimate it; sum
	predicted, upto     float64 // share of comparisons that detect the effect, with all three or one of the metrics left to judge
}

func (s *score) String() string {
	n, i := float64(s.comparisons), float64(s.intervals)
	return fmt.Sprintf("%d comparisons: a difference is shown in %.1f %% of them, that of throughput in %.1f %% (%.1f to %.1f %% predicted); %.1f %% of the intervals cover it, of a level of %.1f %%",
		s.comparisons, 100*float64(s.alarms)/n, 100*float64(s.shown)/n, 100*s.predicted, 100*s.upto, 100*float64(s.covered)/i, 100*s.level/i)
}

func simulate(t *testing.T, seed uint64, runs int, paired bool, effect float64) *score {
	t.Helper()
	m := &machine{random: rand.New(rand.NewPCG(seed, 7))}
	planner := &stats.Planner{}
	s := &score{}
	for range *simulated {
		v, err := Judge(m.side(runs, 1), m.side(runs, 1+effect), Options{MinEffect: 1e-9, Paired: paired, planner: planner})
		check.OK(t, err)
		s.add(v, effect)
	}
	// The predicted power of a comparison follows from its estimate of the spread. With so few runs
	// single estimates vary a lot, so this uses their mean.
	d := stats.Design{A: runs, B: runs, Paired: paired}
	shift := math.Log1p(effect) / math.Sqrt(s.variance/float64(s.comparisons))
	s.predicted, s.upto = power(planner, d, Alpha/3, shift), power(planner, d, Alpha, shift)
	t.Logf("%d runs, paired %v, %g %%: %s", runs, paired, 100*effect, s)
	return s
}

func (s *score) add(v *Verdicts, effect float64) {
	s.comparisons++
	alarm := false
	for _, r := range v.Subjects[0].Rows {
		if !r.Judged {
			continue
		}
		truth := 100 * effect
		if r.Higher {
			truth = 100 * (1/(1+effect) - 1)
		}
		shown := r.Verdict == Better || r.Verdict == Worse
		alarm = alarm || shown
		s.intervals++
		s.level += r.Level
		if *r.Low <= truth && truth <= *r.High {
			s.covered++
		}
		if r.Metric != "throughput" {
			continue
		}
		if shown {
			s.shown++
		}
		c := &comparison{Options: Options{Paired: v.Paired}, before: make([]Run, v.Before.Runs), after: make([]Run, v.After.Runs)}
		before, after, _ := r.ratios()
		spread := c.spread(before, after)
		s.variance += spread * spread
	}
	if alarm {
		s.alarms++
	}
}

// power returns the share of comparisons that detect the shift: the share for which the planner
// calls it detectable.
func power(p *stats.Planner, d stats.Design, alpha, shift float64) float64 {
	const steps = 1000
	return float64(sort.Search(steps-1, func(i int) bool { return p.Detectable(d, alpha, float64(i+1)/steps) > shift })) / steps
}

// Runs of the same machine do not differ. At most 6.5 % of the comparisons are false alarms, and
// the coverage of intervals is at least 93.5 % and within 2 points of their level. 200 comparisons
// vary more than 1000.
func TestSimulatedIdenticalRuns(t *testing.T) {
	t.Parallel()
	slack := 2 * math.Sqrt(.05*.95/float64(*simulated))
	if *simulated >= 1000 {
		slack = .015
	}
	for _, paired := range []bool{false, true} {
		runs := 6
		if paired {
			runs = 8
		}
		s := simulate(t, 1, runs, paired, 0)
		if alarms := float64(s.alarms) / float64(s.comparisons); alarms > .05+slack {
			t.Errorf("%.3f of the comparisons are false alarms", alarms)
		}
		covered, level := float64(s.covered)/float64(s.intervals), s.level/float64(s.intervals)
		if covered < .95-slack || math.Abs(covered-level) > .02 {
			t.Errorf("%.3f of the intervals cover the truth, and their level is %.3f", covered, level)
		}
	}
}

// Effects are detected as often as the comparison itself predicts.
func TestSimulatedEffects(t *testing.T) {
	t.Parallel()
	// A share p of n comparisons has the standard deviation sqrt(p(1-p)/n).
	slack := func(p float64) float64 { return 2.5 * math.Sqrt(max(p, .01)*(1-p)/float64(*simulated)) }
	for i, effect := range []float64{.01, .03, .1} {
		for _, paired := range []bool{false, true} {
			runs := 6
			if paired {
				runs = 8
			}
			s := simulate(t, uint64(10+i), runs, paired, effect)
			n := float64(s.comparisons)
			if shown := float64(s.shown) / n; shown < s.predicted-slack(s.predicted) || shown > s.upto+slack(s.upto) {
				t.Errorf("%g %%, paired %v: shown in %.3f of the comparisons, predicted %.3f to %.3f", 100*effect, paired, shown, s.predicted, s.upto)
			}
		}
	}
}

// consecutive returns runs that are made one after the other, a minute each.
func (m *machine) consecutive(n int, factor float64) []Run {
	all := m.side(n, factor)
	for i := range all {
		begin := time.Unix(int64(m.runs-n+i)*60, 0)
		g := &all[i].Report.Groups[0]
		g.WindowStart, g.WindowEnd = begin, begin.Add(50*time.Second)
	}
	return all
}

// Sets made one after the other on a machine that gets slower keep few verdicts, and a true step on
// a steady machine keeps nearly all.
func TestSimulatedSequences(t *testing.T) {
	t.Parallel()
	// The share of comparisons that call throughput different or equivalent, with the trend within
	// the sides and without.
	verdicts := func(seed uint64, slower, effect float64) (with, without float64) {
		m := &machine{random: rand.New(rand.NewPCG(seed, 7)), quiet: true, slower: slower}
		planner := &stats.Planner{}
		for range *simulated {
			m.runs = 0
			v, err := Judge(m.consecutive(6, 1), m.consecutive(6, 1+effect), Options{MinEffect: minEffect, planner: planner})
			if err != nil || v.Sequence == nil || v.Sequence.First != "before" || v.Sequence.DistanceS != 360 {
				t.Fatal(v, err)
			}
			r, _ := v.Row("", "throughput")
			if r.Verdict != Undecided {
				without++
			}
			if r.Verdict != Undecided && r.Verdict != Withheld {
				with++
			}
		}
		n := float64(*simulated)
		t.Logf("%g %% slower from run to run, step of %g %%: %.1f %% of %d comparisons have a verdict on throughput, %.1f %% without a look at the trend", 100*slower, 100*effect, 100*with/n, *simulated, 100*without/n)
		return with / n, without / n
	}
	// A share p of n comparisons has the standard deviation sqrt(p(1-p)/n).
	slack := func(p float64) float64 { return 2.5 * math.Sqrt(max(p*(1-p), .01)/float64(*simulated)) }
	for _, test := range []struct{ slower, effect, min, max, without float64 }{
		{.005, 0, 0, .25, .6}, {0, .05, .95, 1, .98}, {0, 0, 0, 1, 0}, {0.01, 0, 0, .1, .9}, {0, .03, 0, 1, 0},
	} {
		with, without := verdicts(21, test.slower, test.effect)
		if with < test.min-slack(test.min) || with > test.max+slack(test.max) || without < test.without-slack(test.without) {
			t.Errorf("%g %% slower, step of %g %%: verdicts in %.3f, %.3f without the trend", 100*test.slower, 100*test.effect, with, without)
		}
	}
}
