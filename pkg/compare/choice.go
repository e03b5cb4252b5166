package compare

import (
	"fmt"
	"strings"

	"warp/internal/suggest"
	"warp/pkg/results"
)

// A Choice is a metric of an operation, or of the total.
type Choice struct {
	Op     string // in capitals; "" = the total
	Metric string
}

// String returns the choice as it is written.
func (c Choice) String() string {
	if c.Op == "" {
		return c.Metric
	}
	return c.Op + "." + c.Metric
}

// ParseChoices reads a list of metrics, such as "p99,GET.throughput".
func ParseChoices(text string) (all []Choice, err error) {
	for part := range strings.SplitSeq(text, ",") {
		c, err := parseChoice(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func parseChoice(text string) (Choice, error) {
	if _, ok := results.FindMetric(strings.ToLower(text)); ok {
		return Choice{Metric: strings.ToLower(text)}, nil
	}
	op, metric, dotted := strings.Cut(text, ".")
	name := strings.ToLower(metric)
	if _, ok := results.FindMetric(name); dotted && ok && op != "" {
		return Choice{strings.ToUpper(op), name}, nil
	}
	var names []string
	for _, m := range results.Metrics() {
		names = append(names, m.Name)
	}
	if !dotted {
		name = strings.ToLower(text)
	}
	if near := suggest.Closest(name, names); near != "" {
		return Choice{}, fmt.Errorf("there is no metric %q; did you mean %s?", text, near)
	}
	return Choice{}, fmt.Errorf("there is no metric %q; there are %s, and each of them with an operation in front, such as GET.p99", text, strings.Join(names, ", "))
}
