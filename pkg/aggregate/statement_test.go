package aggregate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// scripted is the log of a script: uploads, downloads with a warm-up and more of them without, deletions. Each part
// overlaps with the last requests of the one before.
func scripted(seed uint64) (rows []oplog.Record, parts map[oplog.Statement]string) {
	parts = map[oplog.Statement]string{{Number: 1}: "PUT", {Number: 2, WarmUp: true}: "GET", {Number: 2}: "GET", {Number: 3}: "GET", {Number: 4}: "DELETE"}
	order := []oplog.Statement{{Number: 1}, {Number: 2, WarmUp: true}, {Number: 2}, {Number: 3}, {Number: 4}}
	for i, s := range order {
		l := load{ops: []string{parts[s]}, threads: 3 + i, hosts: 2, length: 2 * time.Second, latency: 20 * time.Millisecond, failures: .05, schedule: s.Number == 2, sizes: true}
		for _, r := range l.make(seed + uint64(i)) {
			r.Start += int64(i) * int64(l.length)
			if r.Due != 0 {
				r.Due += int64(i) * int64(l.length)
			}
			r.Statement = s
			rows = append(rows, r)
		}
	}
	sortByEnd(rows)
	return rows, parts
}

// The figures of a statement are those of all its requests, and of no others.
func TestStatements(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		rows, parts := scripted(seed)
		r := analyze(t, shuffled(rows, seed), Options{})
		if len(r.Operations) != len(parts) || len(r.Groups) != len(parts) || len(r.Warnings) > 0 {
			t.Fatalf("%d operations in %d groups, warnings %q", len(r.Operations), len(r.Groups), r.Warnings)
		}
		for i := range r.Operations {
			op := &r.Operations[i]
			s := oplog.Statement{Number: uint16(op.Statement), WarmUp: op.Warmup}
			own := slices.DeleteFunc(slices.Clone(rows), func(r oplog.Record) bool { return r.Statement != s })
			first, last, _ := rangeOf(own, "")
			if op.Op != parts[s] || op.WindowBasis != Whole || op.WindowStart.UnixNano() != first || op.WindowEnd.UnixNano() != last {
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

// The parts of a log, counted on their own, make the same report.
func TestStatementsMerge(t *testing.T) {
	t.Parallel()
	rows, _ := scripted(1)
	want, err := count(t, rows, oplog.Window{}, Options{Verbose: true}).Report()
	if err != nil {
		t.Fatal(err)
	}
	parts := pieces(rows, 3, func(i int, _ *oplog.Record) int { return i })
	same(t, "merged", merged(t, parts, oplog.Window{}, []int{2, 0, 1}, false), render(t, want))
}

func TestStatementGolden(t *testing.T) {
	t.Parallel()
	texts := []string{"PUT 9 OBJECTS", "GET 9 OBJECTS AT RATE 10 PER SECOND WARMUP 2 SECONDS", "GET RUNTIME 2 SECONDS", "DELETE"}
	of := func(seed uint64, texts []string) *Report {
		rows, _ := scripted(seed)
		r := analyze(t, rows, Options{})
		r.Describe(oplog.Header{Benchmark: "script", Statements: texts}, oplog.Trailer{End: "completed"})
		return r
	}
	before, after := of(1, texts), of(2, append(slices.Clone(texts[:2]), "GET RUNTIME 3 SECONDS"))
	golden(t, "script.txt", func(w io.Writer) error { return before.WriteText(w, TextOptions{}) })
	golden(t, "script.csv", before.WriteCSV)
	c := Compare(before, after)
	golden(t, "compare-script.txt", func(w io.Writer) error { return c.WriteText(w, TextOptions{}) })
	after.Operations = slices.DeleteFunc(after.Operations, func(o Operation) bool { return o.Statement == 3 })
	before.Operations = slices.DeleteFunc(before.Operations, func(o Operation) bool { return o.Warmup })
	c = Compare(before, after)
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
