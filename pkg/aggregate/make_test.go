package aggregate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"warp/internal/check"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// A memoryLog is a log in memory. It returns rows in odd batches, from memory that it overwrites
// afterwards.
type memoryLog struct {
	header  oplog.Header
	trailer oplog.Trailer
	windows []oplog.Window // each is announced before the first row that ended after its last instant
	rows    []oplog.Record
	reads   int
}

func (l *memoryLog) Header() oplog.Header { return l.header }

func (l *memoryLog) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	l.reads++
	batch, rest, windows := make([]oplog.Record, 97), l.rows, l.windows
	for len(rest) > 0 {
		n := 0
		for ; n < min(len(batch), len(rest)); n++ {
			if len(windows) > 0 && rest[n].End() > latest(windows[0]) {
				break
			}
			batch[n] = rest[n]
		}
		if n == 0 {
			if err := decided(windows[0], nil); err != nil {
				return oplog.Trailer{}, err
			}
			windows = windows[1:]
			continue
		}
		if err := rows(batch[:n]); err != nil {
			return oplog.Trailer{}, err
		}
		clear(batch)
		rest = rest[n:]
	}
	for _, w := range windows {
		if err := decided(w, nil); err != nil {
			return oplog.Trailer{}, err
		}
	}
	return l.trailer, nil
}

// latest is the last instant that is decided.
func latest(w oplog.Window) int64 { return max(w.Start, w.Begin, w.End) }

// windowed returns one of warp's own logs of a run with that window.
func windowed(rows []oplog.Record, w oplog.Window) *memoryLog {
	return &memoryLog{
		header: oplog.Header{Warp: "test", Windowed: true}, rows: rows, trailer: oplog.Trailer{End: "completed", Window: &w},
		windows: []oplog.Window{{Start: w.Start}, {Start: w.Start, Begin: w.Begin, Cold: w.Cold}, w},
	}
}

func analyze(t testing.TB, rows []oplog.Record, o Options) *results.Report {
	t.Helper()
	return analyzeLog(t, &memoryLog{rows: rows}, o)
}

func analyzeLog(t testing.TB, log Log, o Options) *results.Report {
	t.Helper()
	r, err := Analyze(log, o)
	check.OK(t, err)
	return r
}

// render returns everything in a report.
func render(t testing.TB, r *results.Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	check.OK(t, err)
	return string(b)
}

// same compares renderings and shows the first line that differs.
func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := bytes.Split([]byte(got), []byte("\n")), bytes.Split([]byte(want), []byte("\n"))
	for i := range g {
		if i >= len(w) || !bytes.Equal(g[i], w[i]) {
			old := "(nothing)"
			if i < len(w) {
				old = string(w[i])
			}
			t.Fatalf("%s: line %d\n got %s\nwant %s", what, i+1, g[i], old)
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
}

func shuffled(rows []oplog.Record, seed uint64) []oplog.Record {
	rows = slices.Clone(rows)
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}
