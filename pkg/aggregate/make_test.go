package aggregate

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// epoch is where made-up logs begin: 2026-01-02 03:04:05 UTC.
const epoch = int64(1767323045) * 1e9

// load describes a made-up run.
type load struct {
	ops                    []string
	runs, clients, threads int // clients per run, threads per client
	hosts                  int
	length                 time.Duration
	latency                time.Duration // mean
	failures               float64       // share
	schedule, zeros, sizes bool
	stagger                time.Duration // between the starts of runs
	batch                  int           // objects per request
}

// make makes the rows, by time of end as a log has them.
func (l load) make(seed uint64) []oplog.Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows []oplog.Record
	for run := range max(l.runs, 1) {
		for client := range max(l.clients, 1) {
			for thread := range max(l.threads, 1) {
				begin := epoch + int64(run)*int64(l.stagger) + rng.Int64N(int64(l.latency)+1)
				for at := begin; at < begin+int64(l.length); {
					r := l.row(rng)
					r.Run, r.Client, r.Thread = fmt.Sprintf("run%d", run), fmt.Sprintf("c%d", client), uint32(thread)
					r.Start = at
					if l.schedule {
						r.Due = at - rng.Int64N(int64(time.Millisecond))
					}
					rows = append(rows, r)
					at = r.End() + rng.Int64N(int64(l.latency)/10+1)
				}
			}
		}
	}
	sortByEnd(rows)
	return rows
}

func sortByEnd(rows []oplog.Record) {
	slices.SortStableFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(a.End(), b.End()) })
}

func (l load) row(rng *rand.Rand) oplog.Record {
	r := oplog.Record{
		Op: l.ops[rng.IntN(len(l.ops))], Endpoint: fmt.Sprintf("http://host%d:9000", rng.IntN(max(l.hosts, 1))),
		Key: fmt.Sprintf("obj%d", rng.IntN(50)), Objects: max(l.batch, 1), Bytes: 4000,
		Duration: time.Duration(rng.ExpFloat64()*float64(l.latency)) + 1,
	}
	if l.zeros && rng.IntN(10) == 0 {
		r.Duration = 0
	}
	if l.sizes {
		r.Bytes = 1 << rng.IntN(28)
	}
	switch r.Op {
	case "GET":
		r.FirstByte = r.Duration / 2
	case "PUT":
		r.LastByte = r.Duration / 3
	default:
		r.Bytes = 0
	}
	if rng.Float64() < l.failures {
		r.Err = []string{"SlowDown: please", "NoSuchKey: gone", "what is this"}[rng.IntN(3)]
		r.Status = 503
	}
	return r
}

// loads are runs of every shape.
func loads() map[string]load {
	return map[string]load{
		"get":     {ops: []string{"GET"}, threads: 8, length: 10 * time.Second, latency: 20 * time.Millisecond},
		"mixed":   {ops: []string{"GET", "PUT", "STAT", "DELETE"}, threads: 6, hosts: 3, clients: 2, length: 5 * time.Second, latency: 30 * time.Millisecond, failures: .1},
		"open":    {ops: []string{"PUT"}, threads: 4, length: 8 * time.Second, latency: 5 * time.Millisecond, schedule: true, zeros: true},
		"sizes":   {ops: []string{"GET"}, threads: 4, hosts: 2, length: 3 * time.Second, latency: 7 * time.Millisecond, sizes: true, zeros: true, failures: .02},
		"slow":    {ops: []string{"PUT"}, threads: 5, length: 40 * time.Second, latency: 4 * time.Second},
		"single":  {ops: []string{"GET"}, threads: 1, length: time.Second, latency: 50 * time.Millisecond},
		"short":   {ops: []string{"GET"}, threads: 9, length: time.Millisecond, latency: 100 * time.Millisecond},
		"delete":  {ops: []string{"DELETE"}, threads: 3, length: 2 * time.Second, latency: 9 * time.Millisecond, batch: 100},
		"long":    {ops: []string{"GET", "STAT"}, threads: 3, length: 50 * time.Minute, latency: 3 * time.Second, failures: .01},
		"day":     {ops: []string{"GET"}, threads: 2, hosts: 2, length: 30 * time.Hour, latency: 40 * time.Second},
		"runs":    {ops: []string{"GET"}, runs: 3, clients: 2, threads: 2, length: 4 * time.Second, latency: 10 * time.Millisecond, stagger: time.Second},
		"apart":   {ops: []string{"GET"}, runs: 2, threads: 2, length: time.Second, latency: 10 * time.Millisecond, stagger: time.Minute},
		"failing": {ops: []string{"GET"}, threads: 2, length: time.Second, latency: 10 * time.Millisecond, failures: 2},
	}
}

// A memoryLog is a log in memory. It hands out rows in odd batches, from memory
// that is overwritten after.
type memoryLog struct {
	header  oplog.Header
	trailer oplog.Trailer
	windows []oplog.Window // each is announced before the first row that ended after its last instant
	rows    []oplog.Record
	reads   int
}

func (l *memoryLog) Header() oplog.Header { return l.header }

func (l *memoryLog) Read(decided func(oplog.Window) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
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
			if err := decided(windows[0]); err != nil {
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
		if err := decided(w); err != nil {
			return oplog.Trailer{}, err
		}
	}
	return l.trailer, nil
}

// latest is the last instant that is decided.
func latest(w oplog.Window) int64 { return max(w.Start, w.Begin, w.End) }

// windowed is a log of warp's own of a run with that window.
func windowed(rows []oplog.Record, w oplog.Window) *memoryLog {
	return &memoryLog{
		header: oplog.Header{Warp: "test", Windowed: true}, rows: rows, trailer: oplog.Trailer{End: "completed", Window: &w},
		windows: []oplog.Window{{Start: w.Start}, {Start: w.Start, Begin: w.Begin, Cold: w.Cold}, w},
	}
}

func analyze(t testing.TB, rows []oplog.Record, o Options) *Report {
	t.Helper()
	return analyzeLog(t, &memoryLog{rows: rows}, o)
}

func analyzeLog(t testing.TB, log Log, o Options) *Report {
	t.Helper()
	r, err := Analyze(log, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// render is everything that a report can be turned into.
func render(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	for _, err := range []error{
		r.WriteText(&b, TextOptions{Verbose: true}), r.WriteText(&b, TextOptions{}), r.WriteCSV(&b), r.WriteJSON(&b),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
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
