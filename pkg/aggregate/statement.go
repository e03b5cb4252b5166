package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

// An opID tells operations apart: by name, and in the log of a script also by
// the statement that asked for the requests.
type opID struct {
	Name      string
	Statement oplog.Statement
}

func idOf(r *oplog.Record) opID { return opID{r.Op, r.Statement} }

// clone keeps the batch that the name came in from being kept too.
func (a opID) clone() opID { return opID{strings.Clone(a.Name), a.Statement} }

// scripted operations are a group each: the statements of a script run one
// after the other, whatever the last request of one overlaps with.
func (a opID) scripted() bool { return a.Statement.Number > 0 }

func (a opID) compare(b opID) int {
	x, y := a.Statement, b.Statement
	switch {
	case x == y:
		return strings.Compare(a.Name, b.Name)
	case x.Number != y.Number:
		return cmp.Compare(x.Number, y.Number)
	case x.WarmUp:
		return -1
	}
	return 1
}

// title names the statement; "" where there is none.
func title(number int, warmup bool) string {
	switch {
	case number == 0:
		return ""
	case warmup:
		return fmt.Sprintf("statement %d, warm-up", number)
	}
	return fmt.Sprintf("statement %d", number)
}

// label names an operation where all those of a report are listed.
func (o *Operation) label() string {
	if o.Statement == 0 {
		return o.Op
	}
	return o.Op + " (" + title(o.Statement, o.Warmup) + ")"
}

// statementText is the statement as it was written; "" if unknown.
func (r *Report) statementText(number int) string {
	if number < 1 || number > len(r.Statements) {
		return ""
	}
	return r.Statements[number-1]
}

// statement is the line above the figures of a statement.
func (p *printer) statement(number int, warmup bool, text string) {
	if number == 0 {
		return
	}
	line := upperFirst(title(number, warmup))
	if text != "" {
		line += ": " + oneLine(text)
	}
	p.line("%s", p.bold(line))
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// scripted says whether the report is about statements of a script.
func (r *Report) scripted() bool {
	return slices.ContainsFunc(r.Operations, func(o Operation) bool { return o.Statement > 0 })
}
