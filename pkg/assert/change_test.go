package assert

import (
	"strings"
	"testing"

	"warp/internal/check"
)

func TestJudgeChanges(t *testing.T) {
	t.Parallel()
	f := func(x float64) *float64 { return &x }
	change, shares := &Change{Estimate: f(3), Low: f(1), High: f(6)}, &Change{Values: []float64{0, .002, .001}}
	for _, c := range []struct {
		assertion string
		change    *Change
		withheld  string
		want      string
	}{
		{"GET.p99.change<+5%", change, "", "GET.p99.change<+5% failed: changed by +3% (+1% to +6%)"},
		{"GET.p99.change<+7%", change, "", "GET.p99.change<+7% holds: changed by +3% (+1% to +6%)"},
		{"GET.throughput.change>-5%", change, "", "GET.throughput.change>-5% holds"},
		{"throughput.change>2%", change, "", "throughput.change>2% failed"},
		{"p99.change<5%", change, "the client was the limit", "p99.change<5% is inconclusive: changed by +3% (+1% to +6%); the client was the limit"},
		{"p99.change<5%", &Change{Estimate: f(3)}, "", "p99.change<5% is inconclusive: there is no interval"},
		{"errors<0.1%", shares, "", "errors<0.1% failed: the worst of 3 runs has 0.2%"},
		{"GET.errors<=0.2%", shares, "the client was the limit", "GET.errors<=0.2% holds: the worst of 3 runs has 0.2%"},
		{"errors>=0.1%", shares, "", "errors>=0.1% failed: the worst of 3 runs has 0%"},
		{"p99.change<5%", nil, "", "p99.change<5% failed: there is no data"},
	} {
		a, err := Parse(c.assertion, known())
		check.OK(t, err)
		got := JudgeChanges([]*Assertion{a}, func(op, metric string) *Change {
			if op != a.Op || metric != a.Metric.String() {
				t.Errorf("asked for %s.%s", op, metric)
			}
			if c.change != nil {
				c.change.Withheld = c.withheld
			}
			return c.change
		})
		if !strings.HasPrefix(got[0].Sentence, c.want) {
			t.Errorf("%s\nwant %s", got[0].Sentence, c.want)
		}
	}
}
