package aggregate

import (
	"math"
	"testing"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// uniform returns the requests of one thread, one after the other.
func uniform(run, op string, from, length, each time.Duration, r oplog.Record) (rows []oplog.Record) {
	for at := from; at < from+length; at += each {
		r.Run, r.Client, r.Op, r.Start, r.Duration = run, "c", op, 1e15+int64(at), each
		rows = append(rows, r)
	}
	return rows
}

// TestRunsOneAfterTheOther merges a mixed run and a delete run that began when
// the first one was over. The operations of the mixed run overlap each other,
// the operations of the delete run do not.
func TestRunsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	mixed := append(uniform("mixed", "DELETE", 0, 10*s, 100*ms, oplog.Record{Objects: 1, Retries: 1, Thread: 1}),
		uniform("mixed", "PUT", 0, 10*s, 10*ms, oplog.Record{Objects: 1, Bytes: 1000, Thread: 2})...)
	upload := uniform("delete", "PUT", 20*s, 5*s, 10*ms, oplog.Record{Objects: 1, Bytes: 5000, Thread: 7})
	deletes := uniform("delete", "DELETE", 30*s, 1*s, 10*ms, oplog.Record{Objects: 10, Thread: 8})
	rows := append(append(mixed, upload...), deletes...)
	type figures struct {
		requests, retries uint64
		size              uint64
		objects, objsPerS float64
		share             float64
		concurrency       int
	}
	of := func(op *results.Operation) figures {
		return figures{op.Requests, op.Retries, op.ObjectBytes.Max, op.ObjectsPerOp.Mean, op.ObjectsPerS, op.Share, op.Concurrency}
	}
	r := analyze(t, rows, Options{})
	got := map[string]figures{}
	for i := range r.Operations {
		got[r.Groups[r.Operations[i].Group].Run+" "+r.Operations[i].Op] = of(&r.Operations[i])
	}
	for name, want := range map[string]figures{
		"mixed DELETE":  {100, 100, 0, 1, 10, 100. / 1100, 2},
		"mixed PUT":     {1000, 0, 1000, 1, 100, 1000. / 1100, 2},
		"delete PUT":    {500, 0, 5000, 1, 100, 1, 1},
		"delete DELETE": {100, 0, 0, 10, 1000, 1, 1},
	} {
		if got[name] != want {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
	if len(r.Operations) != 4 || len(r.Groups) != 3 || len(r.Warnings) != 1 {
		t.Errorf("%d operations, %d groups, warnings %q", len(r.Operations), len(r.Groups), r.Warnings)
	}
}

// TestColdWorkersOfRunsApart says of each run how many of its own workers were
// cold.
func TestColdWorkersOfRunsApart(t *testing.T) {
	t.Parallel()
	log := &memoryLog{}
	for i, run := range []string{"a", "b"} {
		from := time.Duration(i) * time.Minute
		log.rows = append(log.rows, uniform(run, "GET", from, time.Second, 10*time.Millisecond, oplog.Record{Objects: 1})...)
		w := oplog.Window{Start: 1e15 + int64(from), Begin: 1e15 + int64(from) + 1, End: 1e15 + int64(from) + 5e8, Cold: 2 + i}
		log.header.Merged = append(log.header.Merged, oplog.Origin{Run: run, Client: "c", Header: oplog.Header{Windowed: true}, Window: &w})
	}
	r := analyzeLog(t, log, Options{})
	for _, g := range r.Groups {
		if want := map[string]int{"a": 2, "b": 3}[g.Run]; g.ColdWorkers != want {
			t.Errorf("run %s: %d cold workers, want %d", g.Run, g.ColdWorkers, want)
		}
	}
}

// TestSchedulesOfRunsApart gives each of two open loops its own offered and achieved rates, and its own requests that were
// never sent.
func TestSchedulesOfRunsApart(t *testing.T) {
	t.Parallel()
	log := &memoryLog{}
	for i, run := range []string{"a", "b"} {
		start := 1e15 + int64(i)*60*sec
		each := 10 * time.Millisecond * time.Duration(i+1)
		rows := uniform(run, "GET", time.Duration(i)*time.Minute, 10*time.Second, each, oplog.Record{Objects: 1})
		for k := range rows {
			rows[k].Due = rows[k].Start
		}
		log.rows = append(log.rows, rows...)
		w := oplog.Window{Start: start, Begin: start, End: start + 10*sec - 1}
		log.header.Merged = append(log.header.Merged, oplog.Origin{Run: run, Client: "c", Header: oplog.Header{Windowed: true}, Window: &w})
		// The first run ended late: its last unsent requests were due in the window of the second one.
		unsent := &oplog.Unsent{Count: int64(100 * (2 - i)), FirstDue: time.Unix(0, start+9*sec), Interval: 1e6, Until: time.Unix(0, start+20*sec)}
		if i == 0 {
			unsent.Count, unsent.Interval = 200, 505e6
		}
		log.trailer.Merged = append(log.trailer.Merged, &oplog.Trailer{UnsentWaits: unsent})
	}
	r := analyzeLog(t, log, Options{})
	if len(r.Groups) != 2 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	for i, want := range []struct {
		offered, achieved float64
		unsent            int64
	}{{100.2, 100, 2}, {60, 50, 100}} {
		g := r.Groups[i]
		if math.Abs(g.OfferedPerS-want.offered) > .3 || math.Abs(g.AchievedPerS-want.achieved) > .3 || g.Unsent != want.unsent || g.Response == nil {
			t.Errorf("run %s: offered %g, achieved %g, %d unsent; want %+v", g.Run, g.OfferedPerS, g.AchievedPerS, g.Unsent, want)
		}
	}
}
