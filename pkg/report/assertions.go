package report

import (
	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/aggregate"
)

// assertions prints the result of each assertion.
func (p *printer) assertions(r *aggregate.Report) {
	for i := range r.Assertions {
		if i == 0 {
			p.line("\nAssertions:")
		}
		a := &r.Assertions[i]
		c := map[string]color.Attribute{aggregate.Passed: color.FgGreen, aggregate.Failed: color.FgRed}[a.Result]
		if c == 0 {
			c = color.FgYellow
		}
		p.line(" * %s", p.paint(human.OneLine(a.Sentence), c))
	}
}
