package assert

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"warp/pkg/results"
)

// The elements of a report for Jenkins and Surefire, in the order of Surefire's schema.
type (
	testSuite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Time     string     `xml:"time,attr"`
		Tests    int        `xml:"tests,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failing `xml:"failure"`
		Flaky   *flaky   `xml:"flakyFailure"`
		Skipped *skipped `xml:"skipped"`
		Out     string   `xml:"system-out"`
	}
	failing struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	flaky struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:"stackTrace"`
	}
	skipped struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes results as JUnit XML with one test case for each. A test
// case is named as its assertion is written, so that CI systems can follow it from build to build.
// The sentence with the measured value is the text of its failure and its output. Inconclusive results are skipped. suite is the
// command that was judged, and seconds is how long it measured.
func JUnit(w io.Writer, suite string, seconds float64, judged []results.Assertion) error {
	s := testSuite{Name: "warp " + suite, Time: fmt.Sprintf("%.3f", seconds), Tests: len(judged)}
	for i := range judged {
		r := &judged[i]
		sentence := clean(r.Sentence)
		c := testCase{Name: clean(r.Assertion), Class: s.Name, Time: "0.000", Out: sentence}
		switch r.Result {
		case results.Failed:
			s.Failures++
			c.Failure = &failing{sentence, "assertion", sentence}
		case results.Inconclusive:
			s.Skipped++
			c.Skipped = &skipped{sentence, sentence}
		case results.Flaky:
			c.Flaky = &flaky{sentence, "assertion", sentence}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// clean replaces characters that XML cannot represent.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
