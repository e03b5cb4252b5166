package aggregate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// A recoveryOracle follows "Outages" in docs/numbers.md for one mark, with all rows in memory and without
// prefix sums, searches or lists of intervals. Times are seconds after the mark.
type recoveryOracle struct {
	rows        []oplog.Record
	begin, end  float64   // of the window
	at          []float64 // borders
	ends        []float64 // successes after the mark, in order
	rate        float64   // steady
	stall, slow float64   // slow is 0 in a closed loop
	mark        int64
}

const lookAhead = 5. // over which all has to be as before

func newRecoveryOracle(rows []oplog.Record, w oplog.Window, mark int64) *recoveryOracle {
	o := &recoveryOracle{mark: mark}
	o.begin, o.end = o.since(w.Begin), o.since(w.End)
	succeeded := 0.
	var response stats.Histogram
	for _, r := range rows {
		counted := r.Counted()
		inside := counted >= w.Begin && counted <= w.End
		if !inside && (counted > w.End || r.End() <= w.Begin) {
			continue
		}
		o.rows = append(o.rows, r)
		if inside && r.End() <= mark {
			succeeded++
		}
		if r.Due != 0 && r.Due < mark && r.End() <= mark {
			response.Add(time.Duration(r.End() - r.Due))
		}
		if r.End() > mark && r.End() <= w.End {
			o.ends = append(o.ends, o.since(r.End()))
		}
	}
	for i := 0; float64(i)/10 < o.end; i++ {
		o.at = append(o.at, float64(i)/10)
	}
	o.at = append(o.at, o.end)
	o.rate = o.amount(o.begin, 0) / -o.begin
	o.stall = max(.5, -10*o.begin/succeeded)
	if response.Count() > 0 {
		p99 := response.Quantile(.99).Seconds()
		o.slow = max(2*p99, p99+.005)
	}
	return o
}

func (o *recoveryOracle) since(at int64) float64 { return float64(at-o.mark) / 1e9 }

// amount adds up the shares of all requests between two instants.
func (o *recoveryOracle) amount(from, to float64) (sum float64) {
	for i := range o.rows {
		r := &o.rows[i]
		start, end := o.since(r.Start), o.since(r.End())
		if part := min(end, to) - max(start, from); part > 0 {
			sum += part / (end - start)
		}
	}
	return sum
}

// pieces returns the amount of each piece.
func (o *recoveryOracle) pieces() []float64 {
	sums := make([]float64, len(o.at)-1)
	for i := range o.rows {
		r := &o.rows[i]
		start, end := o.since(r.Start), o.since(r.End())
		for k := max(0, int(start*10)-1); k < len(sums) && o.at[k] < end; k++ {
			if part := min(end, o.at[k+1]) - max(start, o.at[k]); part > 0 {
				sums[k] += part / (end - start)
			}
		}
	}
	return sums
}

// throughputIsBack and responseIsBack judge the 5 s after a border.
func (o *recoveryOracle) throughputIsBack(k int, sums []float64) bool {
	moved := 0.
	for i := k; i < len(sums) && o.at[i] < o.at[k]+lookAhead-1e-6; i++ {
		moved += sums[i]
	}
	last := 0.
	for _, end := range append(o.ends, o.end) {
		if end-last > o.stall && end > o.at[k+1] && last < o.at[k]+lookAhead {
			return false
		}
		last = end
	}
	return moved >= .95*o.rate*lookAhead
}

func (o *recoveryOracle) responseIsBack(k int) bool {
	if o.slow == 0 {
		return true
	}
	slow, all := 0., 0.
	border := func(at float64) int64 { return o.mark + int64(math.Round(at*1e9)) }
	for i := range o.rows {
		r := &o.rows[i]
		if r.Due < border(o.at[k]) && r.Start > r.Due && r.Start >= border(o.at[k+1]) {
			return false
		}
		if r.Due < border(o.at[k]) || r.Due >= border(o.at[k]+lookAhead) {
			continue
		}
		all++
		var rounded stats.Sparse
		rounded.Add(time.Duration(r.End() - r.Due))
		rounded.Each(func(d time.Duration, _ uint64) {
			if d.Seconds() > o.slow+1e-9 {
				slow++
			}
		})
	}
	return slow <= .05*all
}

// residual returns the sum of squares of the rates around the means before and after border k.
func (o *recoveryOracle) residual(sums []float64, first, k, last int) (sum float64) {
	for _, part := range [][2]int{{first, k}, {k, last}} {
		moved, length := 0., 0.
		rate := func(i int) float64 {
			d := o.at[i+1] - o.at[i]
			if o.slow > 0 {
				return min(sums[i]/d, o.rate)
			}
			return sums[i] / d
		}
		for i := part[0]; i < part[1]; i++ {
			d := o.at[i+1] - o.at[i]
			moved, length = moved+d*rate(i), length+d
		}
		for i := part[0]; i < part[1]; i++ {
			sum += (o.at[i+1] - o.at[i]) * (rate(i) - moved/length) * (rate(i) - moved/length)
		}
	}
	return sum
}

// report finds the outages, and describes the first and the second that count.
func (o *recoveryOracle) report() (m results.MarkReport) {
	sums := o.pieces()
	var throughput, response []bool
	for k := 0; k < len(sums) && o.at[k]+lookAhead <= o.end+1e-9; k++ {
		throughput, response = append(throughput, o.throughputIsBack(k, sums)), append(response, o.responseIsBack(k))
	}
	bad := func(k int) bool { return !throughput[k] || !response[k] }
	zero := 0.
	m.RecoveryS, m.RecoveryFromS = &zero, &zero
	for i, found := 0, false; i < len(throughput); {
		if !bad(i) {
			i++
			continue
		}
		back := i
		for back < len(throughput) && bad(back) {
			back++
		}
		over := back < len(throughput)
		from, to, noise := o.at[i], o.at[i], false
		begin := o.beginOf(sums, i, back, over)
		if over {
			from, to, noise = o.endOf(sums, throughput, response, i, begin, back)
		}
		switch {
		case noise:
			m.Noise = m.Noise || !found && o.at[begin] <= lookAhead
		case !found:
			found, m.Noise = true, false
			m.DropS = &o.at[begin]
			if m.RecoveryFromS, m.RecoveryS = &from, &to; !over {
				m.RecoveryFromS, m.RecoveryS = nil, nil
			}
		case m.RelapseS == nil:
			m.RelapseS = &o.at[begin]
		}
		if !over {
			break
		}
		for i = back; i < len(throughput) && o.at[i] < to-1e-9; i++ {
		}
	}
	if m.Noise {
		m.RecoveryFromS, m.RecoveryS = nil, nil
	}
	return m
}

func (o *recoveryOracle) beginOf(sums []float64, i, back int, over bool) int {
	if !over {
		back = len(sums)
	}
	between := func(k, l int) (moved float64) {
		for ; k < l; k++ {
			moved += sums[k]
		}
		return moved
	}
	lowest, z := math.Inf(1), i
	for k := i; k < back && o.at[k]+1 <= o.end+1e-9; k++ {
		second := k
		for o.at[second] < o.at[k]+1-1e-9 {
			second++
		}
		if moved := between(k, second); moved < lowest-1e-9 {
			lowest, z = moved, second
		}
	}
	best, begin := math.Inf(-1), i
	for k := i; k < z && o.at[k] <= o.at[i]+lookAhead+1e-9; k++ {
		if missing := (o.rate+lowest)/2*(o.at[z]-o.at[k]) - between(k, z); missing > best+1e-9 {
			best, begin = missing, k
		}
	}
	return begin
}

func (o *recoveryOracle) stalled(from, to float64) bool {
	last := 0.
	for _, end := range append(o.ends, o.end) {
		if end-last > o.stall && end > from && last < to {
			return true
		}
		last = end
	}
	return false
}

func (o *recoveryOracle) endOf(sums []float64, throughput, response []bool, i, begin, back int) (from, to float64, noise bool) {
	from, to = o.at[i], o.at[i]
	r, answered := i, i
	for k := i; k < back; k++ {
		if !throughput[k] {
			r = k + 1
		}
		if !response[k] {
			answered = k + 1
		}
	}
	if r > i {
		first, last := r, r
		for first > min(begin, r-1) && o.at[first-1] >= o.at[r]-lookAhead-1e-9 {
			first--
		}
		relapse := false
		for last < len(sums) && o.at[last] < o.at[r]+2*lookAhead-1e-9 {
			relapse = relapse || last > r && last < len(throughput) && !throughput[last]
			if relapse && o.at[last] >= o.at[r]+lookAhead-1e-9 {
				break
			}
			last++
		}
		var ends []int
		best := math.Inf(1)
		for k := r; k < last && o.at[k] <= o.at[r]+lookAhead+1e-9; k++ {
			ends, best = append(ends, k), min(best, o.residual(sums, first, k, last))
		}
		n := float64(last - first)
		from = o.end
		for _, k := range ends {
			if o.residual(sums, first, k, last) <= best*(1+7.35/(n-2)) {
				from, to = min(from, o.at[k]), o.at[k]
			}
		}
		noise = o.residual(sums, first, first, last)-best <= 20*best/(n-2) && !o.stalled(o.at[i], o.at[r])
	}
	if answered > i {
		from, to, noise = max(from, o.at[answered]), max(to, o.at[answered]), false
	}
	return from, to, noise
}

// TestRecoveryOracle compares the search with the definition, on random series.
func TestRecoveryOracle(t *testing.T) {
	t.Parallel()
	const mark, length = 12, 45
	w := oplog.Window{Start: 100*sec - 1, Begin: 101 * sec, End: (100 + length) * sec}
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			var slumps []slump
			for at := mark + 8*rng.Float64()*float64(rng.IntN(2)); at < length && len(slumps) < 3; at += 3 + 20*rng.Float64() {
				s := slump{at, at + 10*rng.Float64(), .05 + rng.Float64(), 5 * rng.Float64() * float64(rng.IntN(2))}
				slumps, at = append(slumps, s), s.to+s.ramp
			}
			open := seed%3 == 2
			rows := slumped(length, open, .3+.7*rng.Float64(), slumps...)
			got := marksOf(t, rows, length, mark)[0]
			want := newRecoveryOracle(rows, w, (100+mark)*sec).report()
			for name, v := range map[string][2]*float64{
				"recovery_from_s": {got.RecoveryFromS, want.RecoveryFromS}, "recovery_s": {got.RecoveryS, want.RecoveryS},
				"drop_s": {got.DropS, want.DropS}, "relapse_s": {got.RelapseS, want.RelapseS},
			} {
				if (v[0] == nil) != (v[1] == nil) || v[0] != nil && math.Abs(*v[0]-*v[1]) > 1e-6 {
					t.Errorf("%s is %s, want %s; open loop %t, slumps %v", name, show(v[0]), show(v[1]), open, slumps)
				}
			}
			if got.Noise != want.Noise {
				t.Errorf("noise is %t; slumps %v", got.Noise, slumps)
			}
		})
	}
}
