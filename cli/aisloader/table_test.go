package aisloader

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// printed is what a table says of two intervals.
func printed(asJSON bool) string {
	now := time.Date(2026, 3, 4, 10, 11, 17, 0, time.UTC)
	var out strings.Builder
	t := newTable(&out, asJSON, func() time.Time { return now })
	rows := func(op string, n int, bytes int64, each time.Duration, failed int) {
		var all []oplog.Record
		for i := range n + failed {
			r := oplog.Record{Op: op, Bytes: bytes, Duration: each + time.Duration(i)*1234567}
			if i >= n {
				r.Err, r.Bytes = "no", 0
			}
			all = append(all, r)
		}
		_ = t.Write(all)
	}
	t.Begin()
	rows("PUT", 20136, 1024, 755308*time.Nanosecond, 0)
	rows("GET", 3, 100, 58*time.Millisecond, 2)
	rows("STAT", 9, 0, time.Second, 1) // none of aisloader's
	t.InFlight(map[string]int{"PUT": 8, "GET": 1})
	now = now.Add(10 * time.Second)
	t.Interval()
	now = now.Add(10 * time.Second)
	t.Interval() // an idle one
	rows("PUT", 2, 3<<30, 14910*time.Millisecond, 1)
	rows("CFG", 5, 0, 2*time.Millisecond, 0)
	now = now.Add(10 * time.Second)
	t.Interval()
	now = now.Add(313 * time.Millisecond)
	if err := t.Finish(); err != nil {
		out.WriteString(err.Error())
	}
	return out.String()
}

func TestTable(t *testing.T) {
	t.Parallel()
	check.Golden(t, "testdata/table.txt", printed(false))
	check.Golden(t, "testdata/table.json", printed(true))
}

// The list is valid JSON, with numbers as aisloader writes them.
func TestJSON(t *testing.T) {
	t.Parallel()
	var all []map[string]struct {
		Count  int64 `json:"count,string"`
		Errors int64 `json:"errors"`
		Min    int64 `json:"min_latency"`
	}
	check.OK(t, json.Unmarshal([]byte(printed(true)), &all))
	if len(all) != 4 || all[0]["put"].Count != 20136 || all[0]["get"].Errors != 2 || all[1]["put"].Count != 0 || all[3]["put"].Count != 20138 || all[3]["put"].Min != 755308 {
		t.Errorf("%+v", all)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestUnwritten(t *testing.T) {
	t.Parallel()
	table := newTable(full{}, false, time.Now)
	table.Begin()
	if err := table.Finish(); err == nil {
		t.Error("nothing was written, and nobody says so")
	}
}
