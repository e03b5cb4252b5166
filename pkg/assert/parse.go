package assert

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"warp/internal/suggest"
)

// maxText limits the length of an assertion.
const maxText = 200

// An Error describes what is wrong with an assertion, and where.
type Error struct {
	Text   string
	Column int // in runes, from 1; 0 = the whole
	Reason string
	Hint   string // what to do about it; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%q: %s", e.Text, e.Reason)
	if e.Column > 0 {
		s = fmt.Sprintf("%q: column %d: %s", e.Text, e.Column, e.Reason)
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Parse reads an assertion:
//
//	[every DURATION] [OPERATION.]METRIC[.change] (<|<=|>|>=) NUMBER UNIT [in SHARE%]
//
// Operations are the names allowed before a metric, in capitals.
func Parse(text string, operations []string) (*Assertion, error) {
	p := &parser{text: text, operations: operations}
	a, err := p.assertion()
	if err != nil {
		return nil, err
	}
	return a, nil
}

type parser struct {
	text       string
	at         int
	operations []string
}

// fail returns an error at a position in the text.
func (p *parser) fail(at int, hint, format string, args ...any) *Error {
	return &Error{Text: p.text, Column: utf8.RuneCountInString(p.text[:at]) + 1, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

func (p *parser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take reads bytes while wanted returns true.
func (p *parser) take(wanted func(byte) bool) string {
	from := p.at
	for p.at < len(p.text) && wanted(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// keyword reads a word followed by a blank.
func (p *parser) keyword(word string) bool {
	p.blanks()
	rest := p.text[p.at:]
	if len(rest) <= len(word) || !strings.EqualFold(rest[:len(word)], word) || rest[len(word)] != ' ' && rest[len(word)] != '\t' {
		return false
	}
	p.at += len(word)
	p.blanks()
	return true
}

func (p *parser) assertion() (*Assertion, error) {
	if len(p.text) > maxText || !utf8.ValidString(p.text) {
		return nil, &Error{Text: strings.ToValidUTF8(p.text[:min(len(p.text), 40)], "?"), Reason: fmt.Sprintf("an assertion is at most %d bytes of text", maxText)}
	}
	a := &Assertion{Text: strings.TrimSpace(p.text), Share: 1}
	if p.keyword("every") {
		if err := p.every(a); err != nil {
			return nil, err
		}
	}
	if err := p.subject(a); err != nil {
		return nil, err
	}
	if err := p.comparison(a); err != nil {
		return nil, err
	}
	if err := p.limit(a); err != nil {
		return nil, err
	}
	if err := p.share(a); err != nil {
		return nil, err
	}
	if p.blanks(); p.at < len(p.text) {
		return nil, p.fail(p.at, "", "nothing may follow here, and there is %q", p.text[p.at:])
	}
	if a.Metric.Family.ofMarks() && (a.Op != "" || a.Every > 0 || a.Change) {
		return nil, &Error{Text: p.text, Reason: a.Metric.String() + " is about the marks of a whole run, all operations together", Hint: "write for example " + a.Metric.String() + "<30s"}
	}
	if a.Change && a.Every > 0 {
		return nil, &Error{Text: p.text, Reason: "change and every cannot be combined", Hint: "a change is about whole runs, and every about pieces of one"}
	}
	return a, nil
}

// every reads the segment length.
func (p *parser) every(a *Assertion) error {
	from := p.at
	word := p.take(func(c byte) bool { return c != ' ' && c != '\t' })
	d, err := time.ParseDuration(word)
	switch {
	case err != nil:
		return p.fail(from, "write it like every 10s", "%q is not a duration", word)
	case d < time.Second:
		return p.fail(from, "", "every %s is too short; the minimum is 1s", word)
	case d > 24*time.Hour:
		return p.fail(from, "", "every %s is too long; the maximum is 24h", word)
	}
	a.Every = d
	return nil
}

// subject reads the operation and the metric.
func (p *parser) subject(a *Assertion) error {
	p.blanks()
	from := p.at
	word := p.take(func(c byte) bool { return c != '<' && c != '>' && c != '=' && c != '!' && c != ' ' && c != '\t' })
	if word == "" {
		return p.fail(from, "write for example GET.p99<50ms", "a metric is missing")
	}
	parts := strings.Split(word, ".")
	// p99.9 contains a point.
	for i := len(parts) - 1; i > 0; i-- {
		if isPercentile(parts[i-1]) && parts[i] != "" && strings.Trim(parts[i], "0123456789") == "" {
			parts = append(parts[:i-1], append([]string{parts[i-1] + "." + parts[i]}, parts[i+1:]...)...)
		}
	}
	at := from
	if !isFamily(parts[0]) && (len(parts) > 1 || p.isOperation(parts[0])) {
		if err := p.operation(a, parts[0], at); err != nil {
			return err
		}
		at += len(parts[0]) + 1
		parts = parts[1:]
		if len(parts) == 0 {
			return p.fail(p.at, "write for example "+a.Op+".p99", "a metric is missing after %s", a.Op)
		}
	}
	if n := len(parts); n > 1 && strings.EqualFold(parts[n-1], "change") {
		a.Change = true
		parts = parts[:n-1]
	}
	return p.metric(a, parts, at)
}

// isPercentile reports whether the word is p with digits.
func isPercentile(word string) bool {
	return len(word) > 1 && (word[0] == 'p' || word[0] == 'P') && strings.Trim(word[1:], "0123456789") == ""
}

// isFamily reports whether a metric may begin with the word.
func isFamily(word string) bool {
	word = strings.ToLower(word)
	whole, _, _ := strings.Cut(word, ".")
	return slices.Contains(metricWords(), word) || isPercentile(whole) || synonyms()[word] != ""
}

func (p *parser) isOperation(word string) bool {
	return slices.Contains(p.operations, strings.ToUpper(word))
}

func (p *parser) operation(a *Assertion, word string, at int) error {
	a.Op = strings.ToUpper(word)
	if p.isOperation(word) {
		return nil
	}
	hint := "it is one of " + strings.Join(p.operations, ", ")
	if near := suggest.Closest(a.Op, p.operations); near != "" {
		hint = "did you mean " + near + "?"
	}
	return p.fail(at, hint, "there is no operation %q", word)
}

// metricWords returns the words that make up metrics.
func metricWords() []string {
	return []string{"throughput", "objs", "errors", "recovery", "longest_gap", "mean", "min", "max", "ttfb", "response", "wire", "p50", "p90", "p95", "p99", "p99.9"}
}

// synonyms maps words of other tools to ours.
func synonyms() map[string]string {
	return map[string]string{
		"avg": "mean", "average": "mean", "median": "p50", "bandwidth": "throughput", "bytes": "throughput", "speed": "throughput",
		"rps": "objs", "ops": "objs", "iops": "objs", "objects": "objs", "error": "errors", "failures": "errors", "slowest": "max", "fastest": "min",
		"latency": "p99", "duration": "p99", "p999": "p99.9", "p9999": "p99.99",
	}
}

func (p *parser) metric(a *Assertion, parts []string, at int) error {
	word := strings.ToLower(parts[0])
	switch family, rest := familyOf(word), parts[1:]; {
	case word == "throughput", word == "objs", word == "errors", family.ofMarks():
		a.Metric.Family = family
		if len(rest) > 0 {
			return p.fail(at+len(word)+1, "", "%s has no %q", word, strings.Join(rest, "."))
		}
		return nil
	case family != 0:
		a.Metric.Family = family
		if len(rest) == 0 {
			return nil // the mean
		}
		at, parts = at+len(word)+1, rest
	default:
		a.Metric.Family = Duration
	}
	return p.stat(a, parts, at)
}

// familyOf returns the family with the name, or 0 if there is none.
func familyOf(name string) Family {
	for family, known := range familyNames() {
		if known == name {
			return family
		}
	}
	return 0
}

func (p *parser) stat(a *Assertion, parts []string, at int) error {
	word := strings.ToLower(parts[0])
	if len(parts) > 1 {
		return p.fail(at+len(word)+1, "", "%s has no %q", word, strings.Join(parts[1:], "."))
	}
	if stat, ok := map[string]Stat{"mean": Mean, "min": Min, "max": Max}[word]; ok {
		a.Metric.Stat = stat
		return nil
	}
	if digits, ok := strings.CutPrefix(word, "p"); ok && len(digits) <= 7 && isNumber(digits) && synonyms()[word] == "" {
		percent, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(percent > 0 && percent < 100) {
			return p.fail(at, "", "p%s is not a percentile above p0 and below p100", digits)
		}
		a.Metric.Stat, a.Metric.Q = Percentile, percent/100
		return nil
	}
	hint := "metrics are throughput, objs, errors, recovery, longest_gap, mean, min, max and percentiles such as p99; ttfb, response and wire have them, too"
	near := synonyms()[word]
	if near == "" {
		near = suggest.Closest(word, metricWords())
	}
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return p.fail(at, hint, "there is no metric %q", parts[0])
}

// isNumber reports whether the text is digits with at most one point between.
func isNumber(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	return whole != "" && strings.Trim(whole+fraction, "0123456789") == "" && (!point || fraction != "")
}

func (p *parser) comparison(a *Assertion) error {
	p.blanks()
	from := p.at
	word := p.take(func(c byte) bool { return c == '<' || c == '>' || c == '=' || c == '!' })
	switch c := Compare(word); c {
	case Less, LessEqual, More, MoreEqual:
		a.Cmp = c
		return nil
	case "":
		if p.at == len(p.text) {
			return p.fail(from, "a shell interprets < and > unless they are quoted: --assert '"+a.Text+"<…'", "a comparison is missing")
		}
	}
	return p.fail(from, "", "a comparison is one of <, <=, > and >=, not %q", first(word, p.text[from:]))
}

// first returns the word, or the first rune of the rest if there is none.
func first(word, rest string) string {
	if word != "" {
		return word
	}
	_, n := utf8.DecodeRuneInString(rest)
	return rest[:n]
}

func (p *parser) limit(a *Assertion) error {
	p.blanks()
	from := p.at
	sign := p.take(func(c byte) bool { return c == '+' || c == '-' })
	number := p.take(func(c byte) bool { return isDigit(c) || c == '.' })
	if len(sign) > 1 || !isNumber(number) {
		return p.fail(from, "", "a number is missing, such as %s", example(a))
	}
	if sign != "" && !a.Change {
		return p.fail(from, "", "only changes have a sign")
	}
	value, err := strconv.ParseFloat(sign+number, 64)
	if err != nil {
		return p.fail(from, "", "%q is not a number that can be measured", number)
	}
	p.blanks()
	at := p.at
	word := p.take(func(c byte) bool { return isLetter(c) || c == '/' || c == '%' || c >= 0x80 })
	if strings.EqualFold(word, "in") {
		word = "" // belongs to a share
	}
	if word == "" {
		return p.fail(at, "write "+sign+number+strings.TrimLeft(example(a), "+.0123456789"), "the unit is missing")
	}
	units := a.units()
	i := slices.IndexFunc(units, func(u Unit) bool { return u.Name == word || u.Name == "µs" && word == "μs" })
	if i < 0 {
		return p.unknownUnit(a, word, at)
	}
	a.Unit = units[i]
	if a.Limit = value * a.Unit.Scale; math.IsInf(a.Limit, 0) {
		return p.fail(from, "", "%q is not a number that can be measured", number)
	}
	return nil
}

// example returns an example limit for the metric.
func example(a *Assertion) string {
	switch {
	case a.Change:
		return "+5%"
	case a.Metric.Family == Errors:
		return "0.1%"
	case a.Metric.Family == Throughput:
		return "100MiB/s"
	case a.Metric.Family == Objects:
		return "1000obj/s"
	case a.Metric.Family.ofMarks():
		return "30s"
	}
	return "50ms"
}

func (p *parser) unknownUnit(a *Assertion, word string, at int) error {
	var names []string
	for _, u := range a.units() {
		names = append(names, u.Name)
	}
	for _, name := range names { // only capitals differ, or the notation of "per second"
		if strings.EqualFold(name, word) || strings.EqualFold(name, word+"/s") || strings.EqualFold(name, strings.TrimSuffix(word, "ps")+"/s") {
			return p.fail(at, "did you mean "+name+"?", "%s has no unit %q", a.Subject(), word)
		}
	}
	return p.fail(at, "it is measured in "+strings.Join(names, ", "), "%s has no unit %q", a.Subject(), word)
}

// share reads the share of segments that must pass.
func (p *parser) share(a *Assertion) error {
	if !p.keyword("in") {
		return nil
	}
	from := p.at
	number := p.take(func(c byte) bool { return isDigit(c) || c == '.' })
	percent, err := strconv.ParseFloat(number, 64)
	switch {
	case a.Every == 0:
		return p.fail(from, "write for example: every 10s "+p.text, "a share is one of the pieces of the run, and the assertion has none")
	case err != nil || !isNumber(number) || !(percent > 0 && percent <= 100) || p.take(func(c byte) bool { return c == '%' }) != "%":
		return p.fail(from, "", "a share is written like in 95%%, above 0%% and up to 100%%")
	}
	a.Share = percent / 100
	return nil
}
