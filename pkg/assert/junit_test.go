package assert

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/results"
)

// An element is an element of an XML document.
type element struct {
	name     string
	attrs    map[string]string
	text     string
	children []*element
}

// An elementRule describes the allowed content of an element. The rules are the intersection of the
// schemas of Surefire (surefire-test-report.xsd) and of Jenkins' xUnit plugin (junit-10.xsd), so
// what follows them is valid in both.
type elementRule struct {
	required, allowed []string // attributes
	text              bool     // it has text and no children
	children          []string // in this order
	once              []string // children that may occur only once
	needs             string   // a required child
}

func junitRules() map[string]elementRule {
	rerun := elementRule{required: []string{"type"}, allowed: []string{"message"}, children: []string{"stackTrace", "system-out", "system-err"},
		once: []string{"stackTrace", "system-out", "system-err"}, needs: "stackTrace"}
	failed := elementRule{required: []string{"type"}, allowed: []string{"message"}, text: true}
	return map[string]elementRule{
		"testsuite": {required: []string{"name", "tests", "errors", "skipped", "failures"}, allowed: []string{"time", "group"}, children: []string{"testcase"}},
		"testcase": {required: []string{"name", "time"}, allowed: []string{"classname", "group"},
			children: []string{"failure", "rerunFailure", "flakyFailure", "skipped", "error", "rerunError", "flakyError", "system-out", "system-err"},
			once:     []string{"skipped", "error", "system-out", "system-err"}},
		"failure": failed, "error": failed, "skipped": {allowed: []string{"message"}, text: true},
		"rerunFailure": rerun, "rerunError": rerun, "flakyFailure": rerun, "flakyError": rerun,
		"stackTrace": {text: true}, "system-out": {text: true}, "system-err": {text: true},
	}
}

// junitTime is SUREFIRE_TIME. Surefire allows only three decimals.
var junitTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?$`)

// check returns how an element violates the rules.
func (e *element) check() (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, e.name+": "+fmt.Sprintf(format, args...))
	}
	rule, known := junitRules()[e.name]
	if !known {
		say("there is no such element")
		return wrong
	}
	for _, name := range rule.required {
		if _, ok := e.attrs[name]; !ok {
			say("the attribute %s is missing", name)
		}
	}
	for name, value := range e.attrs {
		if !slices.Contains(rule.required, name) && !slices.Contains(rule.allowed, name) {
			say("there is no attribute %s", name)
		}
		if name == "time" && !junitTime.MatchString(value) {
			say("%q is no time", value)
		}
	}
	if !rule.text && strings.TrimSpace(e.text) != "" {
		say("it has the text %q", e.text)
	}
	last := 0
	seen := map[string]int{}
	for _, c := range e.children {
		at := slices.Index(rule.children, c.name)
		if at < last {
			say("%s is not allowed here", c.name)
		}
		last = max(last, at)
		if seen[c.name]++; seen[c.name] > 1 && slices.Contains(rule.once, c.name) {
			say("%s occurs twice", c.name)
		}
		wrong = append(wrong, c.check()...)
	}
	if rule.needs != "" && seen[rule.needs] == 0 {
		say("%s is missing", rule.needs)
	}
	return wrong
}

// parseXML reads a document with one root.
func parseXML(t *testing.T, text string) *element {
	t.Helper()
	top := &element{}
	open := []*element{top}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		at := open[len(open)-1]
		switch x := token.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attrs: map[string]string{}}
			for _, a := range x.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			at.children, open = append(at.children, e), append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			at.text += string(x)
		}
	}
	if len(top.children) != 1 {
		t.Fatalf("%d roots: %s", len(top.children), text)
	}
	return top.children[0]
}

// JUnit files are valid where the schemas of Surefire and Jenkins agree. A test case has the name
// of the assertion, whatever was measured; the sentence is its output and the text of its failure.
func TestJUnit(t *testing.T) {
	t.Parallel()
	result := func(outcome, sentence string) results.Assertion {
		text, _, _ := strings.Cut(strings.TrimPrefix(sentence, "flaky: "), " ")
		return results.Assertion{Assertion: text, Result: outcome, Sentence: sentence}
	}
	all := []results.Assertion{
		result(results.Passed, "p99<5ms holds"), result(results.Failed, "p99<1ms failed: \x1b\"& <\u2028 ]]>\xff"),
		result(results.Inconclusive, "p99.9<5ms is inconclusive"), result(results.Flaky, "flaky: errors<=0% holds"),
	}
	for _, judged := range [][]results.Assertion{nil, all[:1], all[1:2], all[2:3], all[3:], all, slices.Concat(all, all)} {
		for _, seconds := range []float64{0, 12.3456, 86400.5, 1e6} {
			var b strings.Builder
			check.OK(t, JUnit(&b, "get", seconds, judged))
			suite := parseXML(t, b.String())
			if wrong := suite.check(); len(wrong) > 0 {
				t.Errorf("%s\n%s", strings.Join(wrong, "\n"), b.String())
			}
			count := map[string]int{}
			for i, c := range suite.children {
				want := clean(judged[i].Sentence)
				if c.attrs["name"] != judged[i].Assertion || c.attrs["name"] == "" {
					t.Errorf("the test case is called %q, want %q", c.attrs["name"], judged[i].Assertion)
				}
				if out := c.children[len(c.children)-1]; out.name != "system-out" || out.text != want {
					t.Errorf("%s is %q, want %q", out.name, out.text, want)
				}
				for _, e := range c.children {
					count[e.name]++
					if e.name == "flakyFailure" {
						e = e.children[0]
					}
					if e.text != want {
						t.Errorf("%s has the text %q, want %q", e.name, e.text, want)
					}
				}
			}
			for attr, want := range map[string]int{"tests": len(judged), "failures": count["failure"], "skipped": count["skipped"], "errors": count["error"]} {
				if suite.attrs[attr] != fmt.Sprint(want) {
					t.Errorf("%s is %s, want %d", attr, suite.attrs[attr], want)
				}
			}
			if outcome := count["failure"] + count["skipped"] + count["flakyFailure"]; len(judged) == 4 && outcome != 3 {
				t.Errorf("%v: %s", count, b.String())
			}
		}
	}
}

// The check itself finds what a schema would reject.
func TestJUnitRules(t *testing.T) {
	t.Parallel()
	const before, after = `<testsuite name="x" tests="1" errors="0" skipped="0" failures="0"><testcase name="y" time="0.000">`, `</testcase></testsuite>`
	for _, inside := range []string{
		`text`, `<failure message="m">no type</failure>`, `<flakyFailure type="a">no trace</flakyFailure>`, `<skipped type="a"/>`, `<skipped/><skipped/>`,
		`<skipped/><failure type="a"/>`, `<flaky/>`, `<failure type="a"><stackTrace/></failure>`,
	} {
		if wrong := parseXML(t, before+inside+after).check(); len(wrong) == 0 {
			t.Errorf("nothing is wrong with %s", inside)
		}
	}
	if wrong := parseXML(t, `<testsuite name="x" tests="1" errors="0" failures="0" time="1e3"/>`).check(); len(wrong) != 2 {
		t.Errorf("%q", wrong)
	}
}
