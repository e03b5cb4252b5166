package assert

import (
	"strings"
	"testing"
)

func TestJudgeChanges(t *testing.T) {
	t.Parallel()
	f := func(x float64) *float64 { return &x }
	change := &Change{f(3), f(1), f(6)}
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
		{"p99.change<5%", &Change{f(3), nil, nil}, "", "p99.change<5% is inconclusive: there is no interval"},
		{"p99.change<5%", nil, "", "p99.change<5% failed: there is no data"},
	} {
		a, err := Parse(c.assertion, known())
		if err != nil {
			t.Fatal(err)
		}
		got := JudgeChanges([]*Assertion{a}, func(op, metric string) *Change {
			if op != a.Op || metric != a.Metric.String() {
				t.Errorf("asked for %s.%s", op, metric)
			}
			return c.change
		}, c.withheld)
		if !strings.HasPrefix(got[0].Sentence, c.want) {
			t.Errorf("%s\nwant %s", got[0].Sentence, c.want)
		}
	}
}
