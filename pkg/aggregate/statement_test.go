package aggregate

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/compare"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// The figures of a statement cover all its requests, and no others.
func TestStatements(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		rows, parts := testlog.Script(seed)
		r := analyze(t, shuffled(rows, seed), Options{})
		if len(r.Operations) != len(parts) || len(r.Groups) != len(parts) || len(r.Warnings) > 0 {
			t.Fatalf("%d operations in %d groups, warnings %q", len(r.Operations), len(r.Groups), r.Warnings)
		}
		for i := range r.Operations {
			op := &r.Operations[i]
			s := oplog.Statement{Number: uint16(op.Statement), WarmUp: op.Warmup}
			own := slices.DeleteFunc(slices.Clone(rows), func(r oplog.Record) bool { return r.Statement != s })
			first, last, _ := rangeOf(own, "")
			if op.Op != parts[s] || op.WindowBasis != results.Whole || op.WindowStart.UnixNano() != first || op.WindowEnd.UnixNano() != last {
				t.Fatalf("statement %s: %s from %v to %v (%s)", s, op.Op, op.WindowStart, op.WindowEnd, op.WindowBasis)
			}
			if op.Inside != op.Requests-op.Errors || op.Share != 1 {
				t.Errorf("statement %s: %d of %d requests are inside, share %g", s, op.Inside, op.Requests-op.Errors, op.Share)
			}
			delete(parts, s)
		}
		(&oracle{log: &memoryLog{rows: rows}}).check(t, r, "script")
	}
}

// The parts of a log, counted separately, make the same report.
func TestStatementsMerge(t *testing.T) {
	t.Parallel()
	rows, _ := testlog.Script(1)
	want, err := count(t, rows, oplog.Window{}, Options{Verbose: true}).Report()
	check.OK(t, err)
	parts := pieces(rows, 3, func(i int, _ *oplog.Record) int { return i })
	same(t, "merged", merged(t, parts, oplog.Window{}, []int{2, 0, 1}, false), render(t, want))
}

func TestCompareStatements(t *testing.T) {
	t.Parallel()
	of := func(seed uint64) *results.Report {
		rows, _ := testlog.Script(seed)
		return analyze(t, rows, Options{})
	}
	before, after := of(1), of(2)
	after.Operations = slices.DeleteFunc(after.Operations, func(o results.Operation) bool { return o.Statement == 3 })
	before.Operations = slices.DeleteFunc(before.Operations, func(o results.Operation) bool { return o.Warmup })
	c := compare.Reports(before, after)
	if fmt.Sprint(c.OnlyBefore, c.OnlyAfter) != "[GET (statement 3)] [GET (statement 2, warm-up)]" || len(c.Operations) != 3 {
		t.Errorf("%q %q", c.OnlyBefore, c.OnlyAfter)
	}
}

func TestStatementsInOrder(t *testing.T) {
	t.Parallel()
	ids := []opID{{"PUT", oplog.Statement{}}, {"STAT", oplog.Statement{}}, {"PUT", oplog.Statement{Number: 2, WarmUp: true}}, {"GET", oplog.Statement{Number: 2}}, {"GET", oplog.Statement{Number: 10}}}
	for i, a := range ids {
		for k, b := range ids {
			if got := a.compare(b); got != cmp.Compare(i, k) {
				t.Errorf("%v against %v: %d", a, b, got)
			}
		}
	}
}
