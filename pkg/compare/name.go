package compare

import (
	"cmp"
	"fmt"
	"strings"

	"warp/pkg/results"
)

// A Name says what metrics are about: all operations of a run, one operation, or one host's share of it.
type Name struct {
	Op        string // "" = all
	Statement int    // of a script, from 1
	Warmup    bool   // of that statement
	Stage     bool   // the statement is a stage of --stages
	Host      string // "" = all
}

// NameOf returns the name of an operation of a run.
func NameOf(o *results.Operation) Name {
	return Name{Op: o.Op, Statement: o.Statement, Warmup: o.Warmup, Stage: o.Stage}
}

// Name returns what the rows are about.
func (s *Subject) Name() Name { return Name{s.Op, s.Statement, s.Warmup, s.Stage, s.Host} }

// Name returns the operation.
func (c *OpChange) Name() Name {
	return Name{Op: c.Op, Statement: c.Statement, Warmup: c.Warmup, Stage: c.Stage}
}

// Name returns what the metric is of.
func (s *Series) Name() Name { return Name{Op: s.Op, Statement: s.Statement, Stage: s.Stage} }

// String returns the name as tables and sentences show it.
func (n Name) String() string {
	label := cmp.Or(n.Op, "Total")
	switch {
	case n.Stage:
		label = fmt.Sprintf("Stage %d %s", n.Statement, label)
	case n.Statement > 0:
		label = fmt.Sprintf("Statement %d %s", n.Statement, label)
	}
	if n.Warmup {
		label += " (warm-up)"
	}
	if n.Host != "" {
		label += ", " + strings.TrimPrefix(strings.TrimPrefix(n.Host, "http://"), "https://")
	}
	return label
}
