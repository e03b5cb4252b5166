package aggregate

import (
	"cmp"
	"strings"

	"warp/pkg/oplog"
)

// An opID identifies an operation by name, and in the log of a script also by
// the statement that issued the requests.
type opID struct {
	Name      string
	Statement oplog.Statement
}

func idOf(r *oplog.Record) opID { return opID{r.Op, r.Statement} }

// clone copies the name, so that the batch of the row can be freed.
func (a opID) clone() opID { return opID{strings.Clone(a.Name), a.Statement} }

// scripted makes one group for each statement. The statements of a script run
// one after the other, even if their last requests overlap.
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
