package aisloader

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"warp/internal/human"
	"warp/pkg/counter"
	"warp/pkg/oplog"
)

// A Table is a recording.Sink and a recording.Watcher that adds up the requests of a run.
type Table struct {
	out  io.Writer
	json bool
	now  func() time.Time

	mu              sync.Mutex
	interval, total figures
	pending         map[string]int
	failed          error // of the first line that could not be written
}

// newTable returns a table that is written to out, as JSON or as text.
func newTable(out io.Writer, asJSON bool, now func() time.Time) *Table {
	return &Table{out: out, json: asJSON, now: now}
}

// The kinds of requests, in the order of the lines.
const (
	kindPut = iota
	kindGet
	kindConfig
	kinds
)

// kindNames are their names in a table and in an op log.
var kindNames = [kinds]string{"PUT", "GET", "CFG"}

// figures are the sums of the requests of each kind since a time.
type figures struct {
	start time.Time
	of    [kinds]sums
}

// sums are the figures of one kind. aisloader counts failed requests only as errors.
type sums struct{ counter.Counter }

func (s *sums) count() int64 { return int64(s.Time.N) }

func (s *sums) mean() time.Duration { return time.Duration(s.Time.Mean()) }

// throughput returns the bytes per second.
func (f *figures) throughput(kind int, now time.Time) int64 {
	if elapsed := now.Sub(f.start).Seconds(); elapsed > 0 {
		return int64(float64(f.of[kind].Bytes) / elapsed)
	}
	return 0
}

// Begin prints the head of the table. The first interval begins.
func (t *Table) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.interval, t.total = figures{start: t.now()}, figures{start: t.now()}
	if t.json {
		t.print("[")
		return
	}
	t.print("\n" + head())
}

// Write adds requests. It ignores kinds that aisloader does not have.
func (t *Table) Write(batch []oplog.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range batch {
		for kind, name := range kindNames {
			if batch[i].Op == name {
				t.interval.of[kind].Add(&batch[i])
				t.total.of[kind].Add(&batch[i])
			}
		}
	}
	return nil
}

// Flush has nothing to do.
func (t *Table) Flush() error { return nil }

// InFlight notes how many requests are on their way.
func (t *Table) InFlight(byOp map[string]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = byOp
}

// Interval prints the figures since the last time.
func (t *Table) Interval() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.json {
		t.print(t.interval.document(now) + ",")
	} else {
		for kind := range kindNames {
			t.intervalLine(kind, now)
		}
	}
	t.interval = figures{start: now}
}

func (t *Table) intervalLine(kind int, now time.Time) {
	s, all := &t.interval.of[kind], &t.total.of[kind]
	if s.Requests == 0 {
		return
	}
	errors := "-"
	if all.Errors > 0 {
		errors = human.Grouped(int64(s.Errors)) + " (" + human.Grouped(int64(all.Errors)) + ")"
	}
	count := human.Grouped(s.count()) + " (" + human.Grouped(all.count())
	if kind != kindConfig {
		// The last number counts finished requests that are not counted yet; warp has none.
		count += " " + human.Grouped(int64(t.pending[kindNames[kind]])) + " 0"
	}
	t.print(line(now.Format(clock), kindNames[kind], count+")", size(int64(s.Bytes), 1)+" ("+size(int64(all.Bytes), 1)+")", s.latency(),
		rate(t.interval.throughput(kind, now))+" ("+rate(t.total.throughput(kind, now))+")", errors))
}

// Finish prints the totals. It returns the first error of writing a line.
func (t *Table) Finish() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.json {
		t.print(t.total.document(now) + "\n]")
		return t.failed
	}
	t.print("\n" + head())
	for kind := range kindNames {
		if s := &t.total.of[kind]; s.Requests > 0 {
			t.print(line(now.Format(clock), kindNames[kind], human.Grouped(s.count()), size(int64(s.Bytes), 1), s.latency(), rate(t.total.throughput(kind, now)), human.Grouped(int64(s.Errors))))
		}
	}
	return t.failed
}

func (t *Table) print(text string) {
	if _, err := fmt.Fprintln(t.out, text); err != nil && t.failed == nil {
		t.failed = err
	}
}

const clock = "15:04:05"

func head() string {
	return line("Time", "OP", "Count", "Size (Total)", "Latency (min, avg, max)", "Throughput (Avg)", "Errors (Total)")
}

func line(at, op, count, size, latency, throughput, errors string) string {
	return fmt.Sprintf("%-10s%-6s%-22s\t%-22s\t%-36s\t%-22s\t%s", at, op, count, size, latency, throughput, errors)
}

func (s *sums) latency() string {
	return fmt.Sprintf("%-11s%-11s%-11s", short(s.Time.Min), short(s.mean()), short(s.Time.Max))
}

// short cuts a duration to three digits after the point.
func short(d time.Duration) string {
	text := d.String()
	point := strings.IndexByte(text, '.')
	if point < 0 {
		return text
	}
	unit := strings.TrimLeft(text[point+1:], "0123456789")
	digits := len(text) - len(unit) - point - 1
	return text[:point+1+min(digits, 3)] + unit
}

// size writes 19.7MiB, and "-" for nothing.
func size(n int64, digits int) string {
	if n <= 0 {
		return "-"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i < len(units)-1 && n >= 1<<(10*(i+1)) {
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%.*f%s", digits, float64(n)/math.Pow(1024, float64(i)), units[i])
}

func rate(n int64) string {
	if n <= 0 {
		return "-"
	}
	return size(n, 2) + "/s"
}

// A document has the figures of one kind of requests as JSON. Times are in nanoseconds.
type document struct {
	Start      time.Time     `json:"start_time"`
	Count      int64         `json:"count,string"`
	Bytes      int64         `json:"bytes,string"`
	Errors     int64         `json:"errors"`
	Latency    time.Duration `json:"latency"`
	Duration   time.Duration `json:"duration"`
	Min        time.Duration `json:"min_latency"`
	Max        time.Duration `json:"max_latency"`
	Throughput int64         `json:"throughput,string"`
}

// document returns the figures as JSON.
func (f *figures) document(now time.Time) string {
	of := func(kind int) document {
		s := &f.of[kind]
		return document{Start: f.start, Count: s.count(), Bytes: int64(s.Bytes), Errors: int64(s.Errors), Latency: s.mean(),
			Duration: now.Sub(f.start), Min: s.Time.Min, Max: s.Time.Max, Throughput: f.throughput(kind, now)}
	}
	text, err := json.MarshalIndent(struct {
		Get document `json:"get"`
		Put document `json:"put"`
		Cfg document `json:"cfg"`
	}{of(kindGet), of(kindPut), of(kindConfig)}, "", "  ")
	if err != nil {
		return "{}" // it is numbers and times only
	}
	return string(text)
}
