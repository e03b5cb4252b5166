package script

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"warp/internal/human"
	"warp/internal/suggest"
)

// maxText bounds a script: a person wrote it.
const maxText = 1 << 20

// Parse reads a script. Every error is an *Error.
func Parse(text string) ([]Statement, error) {
	if len(text) > maxText {
		return nil, &Error{Line: 1, Column: 1, Found: "more text", Expected: "a script of at most " + human.Bytes(maxText)}
	}
	text = strings.TrimPrefix(text, "\ufeff") // with which some editors begin a file
	p := &parser{lexer: lexer{rest: text, line: 1, column: 1}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var all []Statement
	for p.now.kind != endOfScript {
		if p.now.kind == semicolon { // an empty statement
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		s, err := p.statement()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, p.unexpected(verbNames()...)
	}
	return all, nil
}

// A parser looks at one token at a time.
type parser struct {
	lexer
	now    token
	source []string // of the statement so far
}

func (p *parser) advance() (err error) {
	p.source = append(p.source, p.now.source())
	p.now, err = p.next()
	return err
}

// unexpected says what is there in place of what should be.
func (p *parser) unexpected(expected ...string) error {
	e := &Error{Line: p.now.line, Column: p.now.column, Found: p.now.shown(), Expected: oneOf(expected)}
	if near := suggest.Closest(p.now.text, keywordsOf(expected)); p.now.kind == word && near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// keyword goes past one of the given keywords and returns which it was.
func (p *parser) keyword(names ...string) (string, error) {
	for _, name := range names {
		if p.now.is(name) {
			return name, p.advance()
		}
	}
	return "", p.unexpected(names...)
}

// keywords goes past all of the given keywords, one after the other.
func (p *parser) keywords(names ...string) error {
	for _, name := range names {
		if _, err := p.keyword(name); err != nil {
			return err
		}
	}
	return nil
}

func verbNames() []string { return []string{string(Put), string(Reuse), string(Get), string(Delete)} }

func (p *parser) statement() (Statement, error) {
	begin := p.now
	p.source = nil
	verb, err := p.keyword(verbNames()...)
	if err != nil {
		return Statement{}, err
	}
	s := &Statement{Verb: Verb(verb), Line: begin.line, Column: begin.column, Context: defaultContext}
	p.source = nil
	seen := make(map[string]token)
	for p.now.kind != semicolon && p.now.kind != endOfScript {
		if err := p.clause(s, seen); err != nil {
			return *s, err
		}
	}
	s.Text = strings.Join(append([]string{verb}, p.source...), " ")
	if err := s.check(begin, seen); err != nil {
		return *s, err
	}
	if s.Size == 0 && s.Verb == Put && seen["OF"].kind == endOfScript {
		s.Size = defaultSize
	}
	if s.Strategy == "" {
		s.Strategy = ConstantPrefix
	}
	if p.now.kind == semicolon {
		err = p.advance()
	}
	return *s, err
}

// A clause is a part of a statement: the keyword that it begins with, the verbs that have it, how it is read, and its
// name if several words begin the same clause.
type clause struct {
	begins string
	verbs  []Verb
	read   func(p *parser, s *Statement) error
	name   string
	shown  string // in errors; "" = begins
}

func clauses() []clause {
	return []clause{
		{"OBJECTS", []Verb{Put, Reuse, Get, Delete}, (*parser).objects, "OBJECTS", "a number of OBJECTS"},
		{"USING", []Verb{Put, Reuse}, (*parser).naming, "USING", ""},
		{"AT", []Verb{Put, Get, Delete}, (*parser).rate, "AT", ""},
		{"WARMUP", []Verb{Put, Get, Delete}, (*parser).warmup, "WARMUP", ""},
		{"MAX", []Verb{Put, Get, Delete}, (*parser).max, "MAX", ""},
		{"RUNTIME", []Verb{Put, Get, Delete}, (*parser).runtime, "RUNTIME", ""},
		{"RUN", []Verb{Put, Get, Delete}, (*parser).runFor, "RUNTIME", ""},
		{"FOR", []Verb{Put, Get, Delete}, (*parser).runtime, "RUNTIME", ""},
		{"IN", []Verb{Put, Reuse, Get, Delete}, (*parser).context, "IN", ""},
		{"OF", []Verb{Put}, (*parser).size, "OF", ""},
	}
}

func (p *parser) clause(s *Statement, seen map[string]token) error {
	var expected []string
	hint := ""
	for _, c := range clauses() {
		here := p.now.is(c.begins) || c.begins == "OBJECTS" && p.now.kind == number
		if !slices.Contains(c.verbs, s.Verb) {
			if here {
				hint = "only " + string(c.verbs[0]) + " has that clause"
			}
			continue
		}
		expected = append(expected, cmp.Or(c.shown, c.begins))
		if !here {
			continue
		}
		if first, twice := seen[c.name]; twice {
			e := p.unexpected(`";"`).(*Error)
			e.Hint = fmt.Sprintf("the statement has that clause already, in line %d", first.line)
			return e
		}
		seen[c.name] = p.now
		return c.read(p, s)
	}
	e := p.unexpected(append(expected, `";"`)...).(*Error)
	switch {
	case hint != "":
		e.Hint = hint
	case slices.ContainsFunc(verbNames(), p.now.is):
		e.Hint = `a ";" before it begins the next statement`
	}
	return e
}

func (p *parser) objects(s *Statement) (err error) {
	if p.now.kind == number {
		if s.Objects, err = p.count(); err != nil {
			return err
		}
	}
	_, err = p.keyword("OBJECTS", "OBJECT")
	return err
}

func (p *parser) naming(s *Statement) error {
	if err := p.keywords("USING", "NAMING", "STRATEGY"); err != nil {
		return err
	}
	kind, err := p.keyword("CONSTANT", "RANDOM")
	if err != nil {
		return err
	}
	s.Strategy = Strategy(kind + " PREFIX")
	if err := p.keywords("PREFIX"); err != nil {
		return err
	}
	if !p.now.is("WITH") {
		return nil
	}
	if err := p.keywords("WITH", "SEED"); err != nil {
		return err
	}
	switch {
	case p.now.kind != quoted && p.now.kind != number && p.now.kind != word, p.now.text == "":
		return p.unexpected("a seed in quotation marks")
	}
	s.Seed = p.now.text
	return p.advance()
}

func (p *parser) rate(s *Statement) error {
	if err := p.keywords("AT", "RATE"); err != nil {
		return err
	}
	at := p.now
	value, err := p.value()
	if err != nil {
		return err
	}
	unit := int64(time.Second)
	if p.now.is("PER") {
		if err := p.advance(); err != nil {
			return err
		}
		if unit, err = p.unit(timeUnits); err != nil {
			return err
		}
	}
	s.Rate = value / (float64(unit) / 1e9)
	// Beyond these, the times of a schedule are equal, or overflow.
	if s.Rate < 1.0/86400 || s.Rate > 1e8 {
		return &Error{Line: at.line, Column: at.column, Found: "a rate of " + at.shown(), Expected: "one between 1 per day and 100000000 per second"}
	}
	return nil
}

func (p *parser) warmup(s *Statement) (err error) {
	if err := p.keywords("WARMUP"); err != nil {
		return err
	}
	s.Warmup, err = p.duration()
	return err
}

func (p *parser) max(s *Statement) (err error) {
	if err := p.keywords("MAX"); err != nil {
		return err
	}
	if s.Max, err = p.count(); err != nil {
		return err
	}
	return p.keywords("CONCURRENT")
}

func (p *parser) runFor(s *Statement) error {
	if err := p.keywords("RUN"); err != nil {
		return err
	}
	return p.runtime(s)
}

func (p *parser) runtime(s *Statement) (err error) {
	if _, err := p.keyword("RUNTIME", "FOR"); err != nil {
		return err
	}
	s.Runtime, err = p.duration()
	return err
}

func (p *parser) context(s *Statement) error {
	if err := p.keywords("IN", "CONTEXT"); err != nil {
		return err
	}
	if p.now.kind != quoted || p.now.text == "" {
		return p.unexpected("a name in quotation marks")
	}
	s.Context = p.now.text
	return p.advance()
}

func (p *parser) size(s *Statement) error {
	if err := p.keywords("OF", "SIZE"); err != nil {
		return err
	}
	at := p.now
	if p.now.kind != number {
		return p.unexpected("a number")
	}
	value, err := strconv.ParseFloat(p.now.text, 64)
	if err != nil || strings.Contains(p.now.text, "_") {
		return p.unexpected("a number")
	}
	if err := p.advance(); err != nil {
		return err
	}
	unit, err := p.optionalUnit(sizeUnits, 1)
	if err != nil {
		return err
	}
	bytes := math.Round(value * float64(unit))
	if bytes > maxSize {
		return &Error{Line: at.line, Column: at.column, Found: "a size of " + at.shown(), Expected: "at most 5 TB, the largest object there is"}
	}
	s.Size = int64(bytes)
	return nil
}

// maxSize is the largest object that S3 allows.
const maxSize = 5 << 40

// maxCount bounds numbers of objects and of requests at a time: a pool costs memory for each.
const maxCount = 100_000_000

// count reads a whole number above 0.
func (p *parser) count() (int, error) {
	n, err := strconv.Atoi(p.now.text)
	if p.now.kind != number || err != nil || n < 1 || n > maxCount {
		return 0, p.unexpected(fmt.Sprintf("a whole number from 1 to %d", maxCount))
	}
	return n, p.advance()
}

// value reads a number above 0 that may have decimals.
func (p *parser) value() (float64, error) {
	v, err := strconv.ParseFloat(p.now.text, 64)
	if p.now.kind != number || err != nil || v <= 0 || math.IsInf(v, 0) || strings.Contains(p.now.text, "_") {
		return 0, p.unexpected("a number above 0")
	}
	return v, p.advance()
}

func (p *parser) duration() (time.Duration, error) {
	at := p.now
	value, err := p.value()
	if err != nil {
		return 0, err
	}
	unit, err := p.optionalUnit(timeUnits, int64(time.Second))
	if err != nil {
		return 0, err
	}
	d := value * float64(unit)
	if d < 1 || d > float64(100*365*24*time.Hour) {
		return 0, &Error{Line: at.line, Column: at.column, Found: "a time of " + at.shown(), Expected: "between a nanosecond and a hundred years"}
	}
	return time.Duration(d), nil
}

// A unit has several names, the first of which errors show.
type unit struct {
	names []string
	value int64
}

var timeUnits = []unit{
	{[]string{"SECOND", "SECONDS", "SEC"}, int64(time.Second)},
	{[]string{"MILLISECOND", "MILLISECONDS", "MS"}, int64(time.Millisecond)},
	{[]string{"MINUTE", "MINUTES", "MIN"}, int64(time.Minute)},
	{[]string{"HOUR", "HOURS"}, int64(time.Hour)},
	{[]string{"DAY", "DAYS"}, int64(24 * time.Hour)},
}

var sizeUnits = []unit{
	{[]string{"BYTES", "BYTE", "B"}, 1},
	{[]string{"KB", "KILOBYTES", "KILOBYTE", "K"}, 1e3},
	{[]string{"MB", "MEGABYTES", "MEGABYTE", "M"}, 1e6},
	{[]string{"GB", "GIGABYTES", "GIGABYTE", "G"}, 1e9},
	{[]string{"TB", "TERABYTES", "TERABYTE", "T"}, 1e12},
	{[]string{"KIB", "KIBIBYTES", "KIBIBYTE"}, 1 << 10},
	{[]string{"MIB", "MEBIBYTES", "MEBIBYTE"}, 1 << 20},
	{[]string{"GIB", "GIBIBYTES", "GIBIBYTE"}, 1 << 30},
	{[]string{"TIB", "TEBIBYTES", "TEBIBYTE"}, 1 << 40},
}

func (p *parser) unit(units []unit) (int64, error) {
	var all []string
	for _, u := range units {
		for _, name := range u.names {
			if p.now.is(name) {
				return u.value, p.advance()
			}
		}
		all = append(all, u.names[0])
	}
	return 0, p.unexpected(all...)
}

// optionalUnit reads a unit, and returns the given one if there is none: if a number, another clause or the end follows.
func (p *parser) optionalUnit(units []unit, none int64) (int64, error) {
	begins := func(c clause) bool { return p.now.is(c.begins) }
	if p.now.kind != word || slices.ContainsFunc(clauses(), begins) || slices.ContainsFunc(verbNames(), p.now.is) {
		return none, nil
	}
	return p.unit(units)
}

// check holds the statement to what its verb asks for.
func (s *Statement) check(begin token, seen map[string]token) error {
	missing := func(what string) error {
		return &Error{Line: begin.line, Column: begin.column, Found: "a " + string(s.Verb) + " statement without " + what, Expected: "it to have that"}
	}
	switch {
	case (s.Verb == Put || s.Verb == Get) && s.Objects == 0 && s.Runtime == 0:
		return missing("a number of OBJECTS or a RUNTIME")
	case s.Verb == Reuse && s.Objects == 0:
		return missing("a number of OBJECTS")
	case s.Verb == Reuse && s.Seed == "":
		return missing("USING NAMING STRATEGY … WITH SEED")
	case s.Warmup > 0 && s.Rate == 0:
		at := seen["WARMUP"]
		return &Error{Line: at.line, Column: at.column, Found: "WARMUP without AT RATE", Expected: "a rate to warm up to"}
	}
	return nil
}

func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// keywordsOf leaves out what describes several words.
func keywordsOf(expected []string) []string {
	return slices.DeleteFunc(slices.Clone(expected), func(name string) bool { return strings.ToUpper(name) != name })
}
