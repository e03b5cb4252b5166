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
)

// MostBytes is what a file may have, as it is written and with its variables in place. It keeps a template from filling
// the memory.
const MostBytes = 1 << 20

// mark stands before the number of a line in the text that a template makes. No YAML holds this character.
const mark = '\x00'

// An expansion is the text of a file with its variables in place.
type expansion struct {
	text   []byte
	lines  []int    // of the file, for each line of text
	unused []string // variables that were given and that the file does not have
}

// line is where in the file line n of the text comes from.
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
		return nil, fail(name, 1+bytes.Count(text[:i], []byte("\n")), "a byte of 0 is no text")
	}
	t, err := template.New("").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, templateError(name, err)
	}
	e := &expansion{unused: unused(t, vars)}
	for _, part := range t.Templates() {
		if part.Tree != nil {
			markLines(part.Tree.Root, text)
		}
	}
	data := make(map[string]string, len(vars))
	for k, v := range vars {
		if strings.ContainsRune(v, mark) {
			return nil, fail(name, 0, "the value of the variable %s has a byte of 0", k)
		}
		data[k] = v
	}
	out := &limited{}
	if err := t.Execute(out, data); err != nil {
		return nil, templateError(name, err)
	}
	e.takeMarks(out.Bytes())
	return e, nil
}

// markLines puts the number of each line where it begins, and at the begin of each piece of text.
func markLines(list *parse.ListNode, text []byte) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			line := 1 + bytes.Count(text[:n.Pos], []byte("\n"))
			var marked bytes.Buffer
			fmt.Fprintf(&marked, "%c%d%c", mark, line, mark)
			for _, c := range n.Text {
				marked.WriteByte(c)
				if c == '\n' {
					line++
					fmt.Fprintf(&marked, "%c%d%c", mark, line, mark)
				}
			}
			n.Text = marked.Bytes()
		case *parse.IfNode:
			markLines(n.List, text)
			markLines(n.ElseList, text)
		case *parse.RangeNode:
			markLines(n.List, text)
			markLines(n.ElseList, text)
		case *parse.WithNode:
			markLines(n.List, text)
			markLines(n.ElseList, text)
		}
	}
}

// takeMarks takes the numbers out again. A line is where its first text is from.
func (e *expansion) takeMarks(marked []byte) {
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
		end := 1 + bytes.IndexByte(marked[1:], mark)
		line, _ = strconv.Atoi(string(marked[1:end]))
		if fresh {
			e.lines[len(e.lines)-1] = line
		}
		marked = marked[end+1:]
	}
}

// limited is a buffer that does not grow for ever.
type limited struct{ bytes.Buffer }

var errTooLong = errors.New("the template makes more than 1 MiB of text")

func (l *limited) Write(p []byte) (int, error) {
	// The marks count too, with some bytes per line.
	if l.Len()+len(p) > 8*MostBytes {
		return 0, errTooLong
	}
	return l.Buffer.Write(p)
}

var (
	templatePlace = regexp.MustCompile(`^template: :(\d+):(?:\d+:)? ?`)
	executing     = regexp.MustCompile(`^executing "" at `)
	missing       = regexp.MustCompile(`map has no entry for key "([^"]*)"$`)
)

// templateError says in which line of the file it is.
func templateError(name string, err error) error {
	if errors.Is(err, errTooLong) {
		return fail(name, 0, "%w", errTooLong)
	}
	text, line := err.Error(), 0
	if m := templatePlace.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	if m := missing.FindStringSubmatch(text); m != nil {
		return fail(name, line, "nobody gave the variable %s", m[1]).tell("add --var %s=VALUE", m[1])
	}
	return fail(name, line, "template: %s", executing.ReplaceAllString(text, ""))
}

// unused are the given variables that the template does not name. Where it uses all of them at once, nobody knows.
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
