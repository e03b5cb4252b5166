package oplog

import (
	"bytes"
	"strings"
	"testing"
)

func TestPhaseErrors(t *testing.T) {
	t.Parallel()
	for field, ok := range map[string]bool{"": true, ",,,,,": true, "1,2,3,4,5,6": true, ",,,,,9223372036854775807": true,
		"1": false, ",,,,": false, ",,,,,,": false, ",,,,,x": false, ",,,,,-1": false, ", ,,,,": false, ",,,,,9223372036854775808": false} {
		row := "0\t1\tGET\tc\t1\t5\thttp://h\tkey\t\t2026-05-01T12:00:00Z\t\t\t\t5\t0\t\t200\t0\t" + field + "\t1\n"
		log := []byte(columns + "\n" + row + strings.Repeat("\n", 2*fastRoom))
		_, _, err := readAll(log, 1)
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "line 2, column phases_ns") {
			t.Errorf("%q: %v", field, err)
		}
		bothWays(t, log)
	}
}

// TestMergePhases: a merge keeps them, be it in steps or at once.
func TestMergePhases(t *testing.T) {
	t.Parallel()
	a, ra := testLog(t, 1, "r1", "A")
	b, rb := testLog(t, 2, "r2", "B")
	var want, got Phases
	add := func(sum *Phases, records []Record) (rows int) {
		for i := range records {
			if p := records[i].Phases; p != nil {
				rows++
				for k, d := range p {
					sum[k] += d
				}
			}
		}
		return rows
	}
	rows := add(&want, ra) + add(&want, rb)
	all := mergeLogs(t, a, b)
	if n := add(&got, all.rows); n != rows || got != want || rows == 0 {
		t.Errorf("%d rows with phases %v, want %d with %v", n, got, rows, want)
	}
	c, _ := testLog(t, 3, "r3", "C")
	if steps, once := mergeLogs(t, all.log, c), mergeLogs(t, a, b, c); !bytes.Equal(unzstd(t, steps.log), unzstd(t, once.log)) {
		t.Error("merging in steps makes another log")
	}
}
