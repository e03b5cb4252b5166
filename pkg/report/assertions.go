package report

import (
	"io"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// Assertions writes only the results of assertions.
func Assertions(w io.Writer, all []results.Assertion, o printer.Options) error {
	p := newPrinter(o)
	p.assertions(all)
	return p.To(w)
}

// assertions prints the result of each assertion.
func (p *textPrinter) assertions(all []results.Assertion) {
	for i := range all {
		if i == 0 {
			p.Line("\nAssertions:")
		}
		a := &all[i]
		c := map[string]color.Attribute{results.Passed: color.FgGreen, results.Failed: color.FgRed}[a.Result]
		if c == 0 {
			c = color.FgYellow
		}
		p.Line(" * %s", p.Paint(human.OneLine(a.Sentence), c))
	}
}
