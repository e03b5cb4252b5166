package aggregate

import (
	"cmp"
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
