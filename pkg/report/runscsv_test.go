package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/report/printer"
)

// Columns about an operation are called as in JSON and have the same values.
func TestRunsCSVIsCalledAsJSON(t *testing.T) {
	t.Parallel()
	l := testlog.Loads()["mixed"]
	r := analyze(t, l.Rows(1), aggregate.Options{})
	r.Benchmark, r.Engine, r.End, r.Warp = "mixed", "lean", "completed", "1.0"
	var b, doc bytes.Buffer
	check.OK(t, RunsCSV(&b, []RecordedRun{{Set: "=SUM(A1)", File: "a,b", Report: r}}))
	check.OK(t, printer.JSON(&doc, r))
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+len(r.Operations) {
		t.Fatalf("%d lines, %v", len(rows), err)
	}
	var document map[string]any
	d := json.NewDecoder(&doc)
	d.UseNumber()
	check.OK(t, d.Decode(&document))
	compared := 0
	for i, row := range rows[1:] {
		op := document["operations"].([]any)[i].(map[string]any)
		for k, name := range rows[0] {
			switch name {
			case "set", "file", "label", "verdict", "groups.kind", "statement", "warmup", "window_start":
				continue
			}
			value, ok := document[name]
			if !ok {
				value, ok = op[name]
			}
			if first, rest, dotted := strings.Cut(name, "."); dotted {
				inner, is := op[first].(map[string]any)
				if !is {
					continue // there are no such durations
				}
				value, ok = inner[rest]
			}
			if !ok {
				if name != "client_share" {
					t.Errorf("JSON has no %s", name)
				}
				continue
			}
			if text := fmt.Sprint(value); text != row[k] && !sameNumber(text, row[k]) {
				t.Errorf("%s is %s, and %s in JSON", name, row[k], text)
			}
			compared++
		}
	}
	if compared < 30 {
		t.Errorf("only %d cells were compared", compared)
	}
	if rows[1][0] != "'=SUM(A1)" || rows[1][1] != "a,b" {
		t.Errorf("set %s, file %s", rows[1][0], rows[1][1])
	}
}

// sameNumber reports whether two texts are the same number, written in different ways.
func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return err == nil && also == nil && x == y
}
