package report

import (
	"io"

	"github.com/fatih/color"

	"warp/internal/human"
	"warp/pkg/aggregate"
)

// Assertions writes the results of assertions alone.
func Assertions(w io.Writer, all []aggregate.Assertion, o TextOptions) error {
	p := &printer{o: o}
	p.assertions(all)
	_, err := w.Write(p.Bytes())
	return err
}

// assertions prints the result of each assertion.
func (p *printer) assertions(all []aggregate.Assertion) {
	for i := range all {
		if i == 0 {
			p.line("\nAssertions:")
		}
		a := &all[i]
		c := map[string]color.Attribute{aggregate.Passed: color.FgGreen, aggregate.Failed: color.FgRed}[a.Result]
		if c == 0 {
			c = color.FgYellow
		}
		p.line(" * %s", p.paint(human.OneLine(a.Sentence), c))
	}
}
