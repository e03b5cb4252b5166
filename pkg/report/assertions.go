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
	PrintAssertions(&p.Printer, all)
	return p.To(w)
}

// PrintAssertions prints the result of each assertion.
func PrintAssertions(p *printer.Printer, all []results.Assertion) {
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
