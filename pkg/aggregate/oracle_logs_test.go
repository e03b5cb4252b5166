package aggregate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// TestOracle compares the reports of logs of every shape with the oracle.
func TestOracle(t *testing.T) {
	t.Parallel()
	for name, l := range testlog.Loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.Length = min(l.Length, 10*time.Minute)
			for seed := range uint64(3) {
				rows := l.Rows(seed)
				dur := time.Duration(0)
				if seed == 1 && name != "short" {
					dur = l.Latency * 3 / 2 // most requests cross a border
				}
				log := &memoryLog{rows: shuffled(rows, seed)}
				o := oracle{log: log, dur: int64(dur)}
				o.check(t, analyzeLog(t, log, Options{SegmentDur: dur}), fmt.Sprint("seed ", seed))
			}
		})
	}
}

// TestOracleOfWindows does the same with hundreds of small, irregular logs, with and without
// windows.
func TestOracleOfWindows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(250) {
		rng := rand.New(rand.NewPCG(seed, 3))
		log, kind := randomLog(rng)
		o := oracle{log: log}
		if rng.IntN(4) == 0 {
			o.dur = 1 + rng.Int64N(2e9)
		}
		if rng.IntN(5) == 0 {
			o.skip = rng.Int64N(3e9)
		}
		r, err := Analyze(log, Options{SegmentDur: time.Duration(o.dur), Skip: time.Duration(o.skip)})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		o.check(t, r, fmt.Sprintf("seed %d, %s:", seed, kind))
	}
}

// randomLog returns a log with or without a window, of a killed run, of a script, or of several
// runs.
func randomLog(rng *rand.Rand) (*memoryLog, string) {
	l := testlog.Load{
		Ops: [][]string{{"GET"}, {"PUT"}, {"GET", "PUT", "DELETE"}}[rng.IntN(3)], Hosts: 1 + rng.IntN(2),
		Clients: 1 + rng.IntN(2), Threads: 1 + rng.IntN(4), Failures: []float64{0, .1, .7}[rng.IntN(3)],
		Length: time.Duration(1 + rng.Int64N(10e9)), Sizes: rng.IntN(2) == 0, Schedule: rng.IntN(3) == 0, Zeros: rng.IntN(3) == 0,
		Batch: 1 + rng.IntN(3),
	}
	l.Latency = l.Length/time.Duration(1+rng.IntN(60)) + 1
	kinds := []string{"window", "no window", "killed", "warming up", "script", "merged", "merged, one without"}
	kind := kinds[rng.IntN(len(kinds))]
	if kind == "merged" || kind == "merged, one without" {
		l.Runs, l.Clients, l.Stagger = 1+rng.IntN(3), 1, time.Duration(rng.Int64N(int64(l.Length)))
		return mergedLog(rng, l, kind), kind
	}
	rows := disturbed(rng, l.Rows(rng.Uint64()))
	w := randomWindow(rng, rows)
	log := windowed(rows, w)
	switch kind {
	case "no window":
		log = &memoryLog{rows: rows}
	case "killed":
		log.windows, log.trailer = log.windows[:1+rng.IntN(2)], oplog.Trailer{}
	case "warming up":
		w.Begin = 0
		log = windowed(rows, w)
		log.windows = []oplog.Window{{Start: w.Start}, w}
	case "script":
		for i := range rows {
			rows[i].Statement = oplog.Statement{Number: uint16(1 + rng.IntN(3)), WarmUp: rng.IntN(3) == 0}
		}
		log = &memoryLog{header: oplog.Header{Windowed: true}, rows: rows}
	}
	if kind == "window" && l.Schedule {
		log.trailer.UnsentWaits = randomUnsent(rng, w)
	}
	return log, kind
}

// disturbed returns rows of which some start and end at the same instants as others, hang, have no
// answer, or were due long before. All times are even, except for requests that took no time:
// if one of these coincided with the start or end of the window, the order of rows would decide
// whether it is inside.
func disturbed(rng *rand.Rand, rows []oplog.Record) []oplog.Record {
	for i := range rows {
		r := &rows[i]
		switch rng.IntN(12) {
		case 0:
			r.Start = max(rows[rng.IntN(len(rows))].End(), r.Due)
		case 1:
			r.Duration *= 20
		case 2:
			r.Err, r.Duration = "DrainTimeout: no answer", r.Duration*3
		case 3:
			if r.Due != 0 {
				r.Due -= rng.Int64N(3e9)
			}
		}
		if r.Start, r.Duration = r.Start&^1, r.Duration&^1; r.Duration == 0 {
			r.Start++
		}
		r.Due = min(r.Due, r.Start)
	}
	testlog.SortByEnd(rows)
	return rows
}

// randomWindow returns a window that often begins and ends together with requests.
func randomWindow(rng *rand.Rand, rows []oplog.Record) oplog.Window {
	var at []int64
	for range 3 {
		r := &rows[rng.IntN(len(rows))]
		at = append(at, []int64{r.Start, r.End(), r.Start + rng.Int64N(int64(r.Duration)+1)}[rng.IntN(3)]&^1)
	}
	slices.Sort(at)
	return oplog.Window{Start: at[0], Begin: at[1], End: at[2], Cold: rng.IntN(2)}
}

func randomUnsent(rng *rand.Rand, w oplog.Window) *oplog.Unsent {
	return &oplog.Unsent{
		Count: rng.Int64N(50), FirstDue: time.Unix(0, w.End-rng.Int64N(2e9)).UTC(), Interval: rng.Float64() * 1e7,
		Until: time.Unix(0, w.End+1e9).UTC(),
	}
}

// mergedLog returns a log of several runs with separate windows.
func mergedLog(rng *rand.Rand, l testlog.Load, kind string) *memoryLog {
	log := &memoryLog{}
	for run := range max(l.Runs, 1) {
		one := l
		one.Runs, one.Threads, one.Batch = 1, l.Threads+run, l.Batch+run
		one.Ops = [][]string{{"GET"}, {"GET", "PUT"}, {"PUT", "GET"}}[rng.IntN(3)]
		rows := disturbed(rng, one.Rows(rng.Uint64()))
		phases := rng.IntN(2) == 0 // one operation after the other
		for i := range rows {
			r := &rows[i]
			r.Run, r.Retries = fmt.Sprint("run", run), uint16(run)
			if phases && r.Op == one.Ops[len(one.Ops)-1] {
				r.Start += 100e9
				if r.Due != 0 {
					r.Due += 100e9
				}
			}
			r.Start += int64(run) * int64(l.Stagger)
			if r.Due != 0 {
				r.Due += int64(run) * int64(l.Stagger)
			}
		}
		w := randomWindow(rng, rows)
		o := oplog.Origin{Run: rows[0].Run, Client: rows[0].Client, Header: oplog.Header{Windowed: true}, Window: &w}
		if kind == "merged, one without" && run == 0 {
			o.Window = nil
		}
		log.header.Merged = append(log.header.Merged, o)
		log.rows = append(log.rows, rows...)
	}
	return log
}
