package assert

import (
	"warp/pkg/results"
)

// Confirm combines the results of a repeated run with the results of the first
// run. An assertion that failed in one and passed in the other is flaky.
// Without first results there is nothing to confirm.
func Confirm(first, second []results.Assertion) []results.Assertion {
	for i := range second {
		s := &second[i]
		for k := range first {
			f := &first[k]
			if f.Assertion != s.Assertion || f.Statement != s.Statement {
				continue
			}
			s.First = f
			if f.Result == results.Failed && s.Result == results.Passed || f.Result == results.Passed && s.Result == results.Failed {
				s.Sentence = "flaky: " + s.Sentence + "; of the first run: " + f.Sentence
				s.Result = results.Flaky
			}
			break
		}
	}
	return second
}
