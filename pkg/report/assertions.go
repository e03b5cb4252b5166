package report

import (
	"io"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/results"
)

// Assertions writes only the results of assertions.
func Assertions(w io.Writer, all []results.Assertion, o TextOptions) error {
	p := &printer{o: o}
	p.assertions(all)
	_, err := w.Write(p.Bytes())
	return err
}

// assertions prints the result of each assertion.
func (p *printer) assertions(all []results.Assertion) {
	for i := range all {
		if i == 0 {
			p.line("\nAssertions:")
		}
		a := &all[i]
		c := map[string]color.Attribute{results.Passed: color.FgGreen, results.Failed: color.FgRed}[a.Result]
		if c == 0 {
			c = color.FgYellow
		}
		p.line(" * %s", p.paint(human.OneLine(a.Sentence), c))
	}
}
