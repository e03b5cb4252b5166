package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
)

// MaxBytes is the maximum size of a file, as it is written and with its variables in place. It keeps a template from filling
// the memory.
const MaxBytes = 1 << 20

// mark precedes the number of a line in the output of a template. No YAML holds this character.
const mark = '\x00'

// An expansion is the text of a file with its variables in place.
type expansion struct {
	text   []byte
	lines  []int    // of the file, for each line of text
	unused []string // variables that were given and that the file does not have
}

// line returns the line of the file that line n of the text comes from.
func (e *expansion) line(n int) int {
	if len(e.lines) == 0 {
		return max(n, 1)
	}
	return e.lines[min(max(n, 1), len(e.lines))-1]
}

// expand fills in the variables. Templates may leave out lines and repeat them, so that each line takes along where it
// is from.
func expand(name string, text []byte, vars map[string]string) (*expansion, error) {
	if i := bytes.IndexByte(text, mark); i >= 0 {
		return nil, fail(name, 1+bytes.Count(text[:i], []byte("\n")), "the file contains a zero byte")
	}
	t, err := template.New("").Option("missingkey=error").Funcs(smallFunctions()).Parse(string(text))
	if err != nil {
		return nil, templateError(name, err)
	}
	e := &expansion{unused: unused(t, vars)}
	m := newMarker(text)
	for _, part := range t.Templates() {
		if part.Tree != nil {
			m.lines(part.Tree.Root)
			m.begin(part.Tree.Root)
		}
	}
	data := make(map[string]string, len(vars))
	for k, v := range vars {
		if strings.ContainsRune(v, mark) {
			return nil, fail(name, 0, "the value of the variable %s contains a zero byte", k)
		}
		data[k] = v
	}
	out := &limited{until: time.Now().Add(longest)}
	if err := t.Execute(out, data); err != nil {
		return nil, templateError(name, err)
	}
	if !e.takeMarks(out.Bytes()) {
		return nil, fail(name, 0, "the template writes a zero byte")
	}
	return e, nil
}

// A marker puts the numbers of lines into the text of a template.
type marker struct{ ends []int } // where the lines of the file end

func newMarker(text []byte) *marker {
	m := &marker{}
	for i, c := range text {
		if c == '\n' {
			m.ends = append(m.ends, i)
		}
	}
	return m
}

// line returns the line of a position in the file.
func (m *marker) line(pos parse.Pos) int {
	before, _ := slices.BinarySearch(m.ends, int(pos))
	return before + 1
}

func number(line int) []byte { return fmt.Appendf(nil, "%c%d%c", mark, line, mark) }

// lines puts the number of each line where it begins, and at the start of each piece of text.
func (m *marker) lines(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			line := m.line(n.Pos)
			marked := number(line)
			for _, c := range n.Text {
				marked = append(marked, c)
				if c == '\n' {
					line++
					marked = append(marked, number(line)...)
				}
			}
			n.Text = marked
		case *parse.IfNode:
			m.lines(n.List)
			m.lines(n.ElseList)
		case *parse.RangeNode:
			m.lines(n.List)
			m.lines(n.ElseList)
			m.begin(n.List)
		case *parse.WithNode:
			m.lines(n.List)
			m.lines(n.ElseList)
		}
	}
}

// begin puts a number in front of what may be repeated, so that no repetition is without output: a template can be
// stopped only when it writes.
func (m *marker) begin(list *parse.ListNode) {
	first := &parse.TextNode{NodeType: parse.NodeText, Pos: list.Pos, Text: number(m.line(list.Pos))}
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(first))
}

// takeMarks takes the numbers out again. A line of the text comes from the line of the file with its first character. It returns false if the template itself
// has written something that is not a number.
func (e *expansion) takeMarks(marked []byte) bool {
	line, fresh := 1, true
	e.lines = []int{1}
	for len(marked) > 0 {
		if marked[0] != mark {
			e.text = append(e.text, marked[0])
			if fresh = marked[0] == '\n'; fresh {
				e.lines = append(e.lines, line)
			}
			marked = marked[1:]
			continue
		}
		n, rest, ok := bytes.Cut(marked[1:], []byte{mark})
		number, err := strconv.Atoi(string(n))
		if !ok || err != nil {
			return false
		}
		line, marked = number, rest
		if fresh {
			e.lines[len(e.lines)-1] = line
		}
	}
	return true
}

// longest is how long a template may take. What a file needs is done in a thousandth of it.
const longest = 10 * time.Second

// limited is a buffer that does not grow for ever, and not for long.
type limited struct {
	bytes.Buffer
	until time.Time
}

var (
	errTooLong = errors.New("the template makes more than 1 MiB of text, or repeats too often")
	errTooSlow = fmt.Errorf("the template takes more than %v", longest)
)

func (l *limited) Write(p []byte) (int, error) {
	switch {
	case l.Len()+len(p) > 8*MaxBytes: // the numbers of lines count too, with some bytes each
		return 0, errTooLong
	case time.Now().After(l.until):
		return 0, errTooSlow
	}
	return l.Buffer.Write(p)
}

// smallFunctions returns the functions of templates that make text out of text, with an end to how much: a value that is
// doubled forty times would fill any memory before it is written.
func smallFunctions() template.FuncMap {
	small := func(make func(...any) string) any {
		return func(args ...any) (string, error) {
			if textBytes(args) > MaxBytes {
				return "", errTooLong
			}
			return make(args...), nil
		}
	}
	return template.FuncMap{
		"print": small(fmt.Sprint), "println": small(fmt.Sprintln), "html": small(template.HTMLEscaper),
		"js": small(template.JSEscaper), "urlquery": small(template.URLQueryEscaper),
		"printf": func(format string, args ...any) (string, error) {
			switch {
			case wide.MatchString(format):
				return "", errors.New("printf with a width above 999")
			case strings.Count(format, "%")*(1000+textBytes(args)) > 8*MaxBytes:
				return "", errTooLong
			}
			return fmt.Sprintf(format, args...), nil
		},
	}
}

var wide = regexp.MustCompile(`%[^%a-zA-Z]*([0-9]{4}|\*)`)

// textBytes returns how many bytes the values have as text.
func textBytes(args []any) (n int) {
	for _, a := range args {
		if s, ok := a.(string); ok {
			n += len(s)
			continue
		}
		n += len(fmt.Sprint(a))
	}
	return n
}

var (
	templatePlace = regexp.MustCompile(`^template: :(\d+):(?:\d+:)? ?`)
	executing     = regexp.MustCompile(`^executing "" at `)
	missing       = regexp.MustCompile(`map has no entry for key "([^"]*)"$`)
)

// templateError says in which line of the file it is.
func templateError(name string, err error) error {
	for _, limit := range []error{errTooLong, errTooSlow} {
		if errors.Is(err, limit) {
			return fail(name, 0, "%w", limit)
		}
	}
	text, line := err.Error(), 0
	if m := templatePlace.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	if m := missing.FindStringSubmatch(text); m != nil {
		return fail(name, line, "the variable %s has no value", m[1]).withHint("add --var %s=VALUE", m[1])
	}
	return fail(name, line, "template: %s", executing.ReplaceAllString(text, ""))
}

// unused returns the given variables that the template does not name. If it uses all of them at once, that is not known.
func unused(t *template.Template, vars map[string]string) []string {
	text := ""
	for _, part := range t.Templates() {
		if part.Tree != nil {
			text += part.Tree.Root.String()
		}
	}
	var none []string
	for name := range vars {
		// Comments and plain text count as a use: a warning that is wrong is worse than one that is missing.
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text) {
			none = append(none, name)
		}
	}
	slices.Sort(none)
	return none
}
