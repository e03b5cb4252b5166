// Package testlog generates rows and op logs for tests.
package testlog

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// Epoch is where made-up logs begin: 2026-01-02 03:04:05 UTC.
const Epoch = int64(1767323045) * 1e9

// A Load describes a made-up run.
type Load struct {
	Ops                    []string
	Runs, Clients, Threads int // clients per run, threads per client
	Hosts                  int
	Length                 time.Duration
	Latency                time.Duration // mean
	Failures               float64       // share
	Schedule, Zeros, Sizes bool
	Stagger                time.Duration // between the starts of runs
	Batch                  int           // objects per request
	Stamps                 bool          // a part of the time is the client's
}

// Rows makes the rows, by time of end as a log has them.
func (l Load) Rows(seed uint64) []oplog.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows []oplog.Record
	for run := range max(l.Runs, 1) {
		for client := range max(l.Clients, 1) {
			for thread := range max(l.Threads, 1) {
				begin := Epoch + int64(run)*int64(l.Stagger) + rng.Int64N(int64(l.Latency)+1)
				for at := begin; at < begin+int64(l.Length); {
					r := l.row(rng)
					r.Run, r.Client, r.Thread = fmt.Sprintf("run%d", run), fmt.Sprintf("c%d", client), uint32(thread)
					r.Start = at
					if l.Schedule {
						r.Due = at - rng.Int64N(int64(time.Millisecond))
					}
					rows = append(rows, r)
					at = r.End() + rng.Int64N(int64(l.Latency)/10+1)
				}
			}
		}
	}
	SortByEnd(rows)
	return rows
}

// SortByEnd puts rows in the order of a log.
func SortByEnd(rows []oplog.Record) {
	slices.SortStableFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(a.End(), b.End()) })
}

func (l Load) row(rng *rand.Rand) oplog.Record {
	r := oplog.Record{
		Op: l.Ops[rng.IntN(len(l.Ops))], Endpoint: fmt.Sprintf("http://host%d:9000", rng.IntN(max(l.Hosts, 1))),
		Key: fmt.Sprintf("obj%d", rng.IntN(50)), Objects: max(l.Batch, 1), Bytes: 4000,
		Duration: time.Duration(rng.ExpFloat64()*float64(l.Latency)) + 1,
	}
	if l.Zeros && rng.IntN(10) == 0 {
		r.Duration = 0
	}
	if l.Sizes {
		r.Bytes = 1 << rng.IntN(28)
	}
	if l.Stamps {
		r.ClientTime = r.Duration / 8
	}
	switch r.Op {
	case "GET":
		r.FirstByte = r.Duration / 2
	case "PUT":
		r.LastByte = r.Duration / 3
	default:
		r.Bytes = 0
	}
	if rng.Float64() < l.Failures {
		r.Err = []string{"SlowDown: please", "NoSuchKey: gone", "what is this"}[rng.IntN(3)]
		r.Status = 503
	}
	return r
}

// Loads are runs of every shape.
func Loads() map[string]Load {
	return map[string]Load{
		"get":     {Ops: []string{"GET"}, Threads: 8, Length: 10 * time.Second, Latency: 20 * time.Millisecond, Stamps: true},
		"mixed":   {Ops: []string{"GET", "PUT", "STAT", "DELETE"}, Threads: 6, Hosts: 3, Clients: 2, Length: 5 * time.Second, Latency: 30 * time.Millisecond, Failures: .1, Stamps: true},
		"open":    {Ops: []string{"PUT"}, Threads: 4, Length: 8 * time.Second, Latency: 5 * time.Millisecond, Schedule: true, Zeros: true},
		"sizes":   {Ops: []string{"GET"}, Threads: 4, Hosts: 2, Length: 3 * time.Second, Latency: 7 * time.Millisecond, Sizes: true, Zeros: true, Failures: .02, Stamps: true},
		"slow":    {Ops: []string{"PUT"}, Threads: 5, Length: 40 * time.Second, Latency: 4 * time.Second},
		"single":  {Ops: []string{"GET"}, Threads: 1, Length: time.Second, Latency: 50 * time.Millisecond},
		"short":   {Ops: []string{"GET"}, Threads: 9, Length: time.Millisecond, Latency: 100 * time.Millisecond},
		"delete":  {Ops: []string{"DELETE"}, Threads: 3, Length: 2 * time.Second, Latency: 9 * time.Millisecond, Batch: 100},
		"long":    {Ops: []string{"GET", "STAT"}, Threads: 3, Length: 50 * time.Minute, Latency: 3 * time.Second, Failures: .01},
		"day":     {Ops: []string{"GET"}, Threads: 2, Hosts: 2, Length: 30 * time.Hour, Latency: 40 * time.Second},
		"runs":    {Ops: []string{"GET"}, Runs: 3, Clients: 2, Threads: 2, Length: 4 * time.Second, Latency: 10 * time.Millisecond, Stagger: time.Second},
		"apart":   {Ops: []string{"GET"}, Runs: 2, Threads: 2, Length: time.Second, Latency: 10 * time.Millisecond, Stagger: time.Minute},
		"failing": {Ops: []string{"GET"}, Threads: 2, Length: time.Second, Latency: 10 * time.Millisecond, Failures: 2},
	}
}

// Script makes the log of a script: uploads, downloads with a warm-up and more of them without, deletions. Each part
// overlaps with the last requests of the one before.
func Script(seed uint64) (rows []oplog.Record, parts map[oplog.Statement]string) {
	parts = map[oplog.Statement]string{{Number: 1}: "PUT", {Number: 2, WarmUp: true}: "GET", {Number: 2}: "GET", {Number: 3}: "GET", {Number: 4}: "DELETE"}
	order := []oplog.Statement{{Number: 1}, {Number: 2, WarmUp: true}, {Number: 2}, {Number: 3}, {Number: 4}}
	for i, s := range order {
		l := Load{Ops: []string{parts[s]}, Threads: 3 + i, Hosts: 2, Length: 2 * time.Second, Latency: 20 * time.Millisecond, Failures: .05, Schedule: s.Number == 2, Sizes: true}
		for _, r := range l.Rows(seed + uint64(i)) {
			r.Start += int64(i) * int64(l.Length)
			if r.Due != 0 {
				r.Due += int64(i) * int64(l.Length)
			}
			r.Statement = s
			rows = append(rows, r)
		}
	}
	SortByEnd(rows)
	return rows, parts
}

// Log is a log of these rows that says nothing of its run.
type Log []oplog.Record

// Header returns the header of another tool's log, which is empty.
func (l Log) Header() oplog.Header { return oplog.Header{} }

// Read calls rows once.
func (l Log) Read(_ func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	return oplog.Trailer{}, rows(l)
}

// Metadata returns everything that the comments of a log can say about a run.
func Metadata() (oplog.Header, oplog.Trailer) {
	return oplog.Header{
			Warp: "1.0", Benchmark: "mixed", Command: "warp mixed --secret-key=*REDACTED*", Engine: "lean", Seed: 1<<63 + 1,
			Parameters: map[string]string{"concurrent": "8", "obj.size": "10MiB"},
		}, oplog.Trailer{
			End: "interrupted", Reason: "signal", Notes: []string{"The log is late."}, Offered: 500, Unsent: 3,
			Load: &hostload.Load{CPUSeconds: 5.5, WallSeconds: 10, Cores: 2, MaxRSSBytes: 30 << 20},
		}
}
