package aggregate

import (
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// mixedRows returns rows as a fast mixed run writes them: operations, hosts and clients alternate.
func mixedRows() []oplog.Record {
	l := testlog.Load{
		Ops: []string{"GET", "PUT", "STAT", "DELETE"}, Clients: 2, Threads: 16, Hosts: 4,
		Length: 20 * time.Second, Latency: 5 * time.Millisecond, Stamps: true,
	}
	return l.Rows(1)
}

func getRows() []oplog.Record {
	return testlog.Load{Ops: []string{"GET"}, Threads: 16, Length: 20 * time.Second, Latency: 3 * time.Millisecond, Stamps: true}.Rows(1)
}

func bench(b *testing.B, rows []oplog.Record, add func(*oplog.Record)) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		add(&rows[n])
		if n++; n == len(rows) {
			n = 0
		}
	}
}

func summaryOf(rows []oplog.Record) *Summary {
	s := NewSummary(Options{})
	_ = s.SetWindow(windowOf(rows))
	return s
}

func BenchmarkSurveyAdd(b *testing.B) {
	b.Run("get", func(b *testing.B) { bench(b, getRows(), new(survey).add) })
	b.Run("mixed", func(b *testing.B) { bench(b, mixedRows(), new(survey).add) })
}

func BenchmarkSummaryAdd(b *testing.B) {
	get, mixed := getRows(), mixedRows()
	b.Run("get", func(b *testing.B) { bench(b, get, summaryOf(get).Add) })
	b.Run("mixed", func(b *testing.B) { bench(b, mixed, summaryOf(mixed).Add) })
}

// TestSteadyStateAllocatesNothing allows one allocation per thousands of rows: the histograms of
// segments grow with their buckets, and repeated rows are the slowest again.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	rows := mixedRows()
	var survey survey
	_ = survey.write(rows)
	sum := summaryOf(rows)
	_ = sum.Write(rows)
	for name, write := range map[string]func([]oplog.Record) error{
		"survey": survey.write, "summary": sum.Write,
	} {
		if n := testing.AllocsPerRun(3, func() { _ = write(rows) }); n > 0 && (name != "summary" || n > float64(len(rows))/500) {
			t.Errorf("%s: %v allocations for %d rows", name, n, len(rows))
		}
	}
}
