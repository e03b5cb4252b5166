// Package scripttable shows the statements of a script while they run: a line
// of figures a second, and a line or a JSON document at the end.
package scripttable

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/target"
	"warp/cli/terminal/live"
	"warp/cli/terminal/redact"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/counter"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/script"
	"warp/pkg/stats"
	"warp/pkg/store"
)

// interval is the time between the lines of a statement.
const interval = time.Second

// A Report is the JSON document of a script.
type Report struct {
	Version    int               `json:"version"` // 1
	Benchmark  string            `json:"benchmark"`
	Settings   settings          `json:"settings"`
	Statements []statementReport `json:"statements"`
	Log        string            `json:"log,omitempty"`
	End        string            `json:"end"`
	EndReason  string            `json:"end_reason,omitempty"`
	Notes      []string          `json:"notes"`

	Assertions []results.Assertion `json:"assertions,omitempty"`
}

type settings struct {
	Engine  string   `json:"engine"`
	Region  string   `json:"region"` // "" = the store is asked
	BaseURI []string `json:"base_uri"`
	Bucket  string   `json:"bucket"`
}

// A statementReport is the FINAL line of a statement, and the line of its warm-up.
type statementReport struct {
	Number    int      `json:"number"`
	Statement string   `json:"statement"`
	Strategy  string   `json:"naming_strategy,omitempty"`
	Seed      string   `json:"seed,omitempty"`
	Warmup    *Figures `json:"warmup,omitempty"`
	Final     *Figures `json:"final,omitempty"` // left out of REUSE, which requests nothing
}

// Figures are the figures of a statement so far.
type Figures struct {
	Count         uint64           `json:"count"`
	Duration      *Times           `json:"duration_ms"` // null where no request succeeded
	TTFB          *Times           `json:"ttfb_ms"`
	MaxConcurrent int              `json:"concurrent_max"`
	Bytes         int64            `json:"bytes"`
	Errors        map[string]int64 `json:"errors"` // by HTTP status; 0 = no answer
}

// Times are in milliseconds.
type Times struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	P999 float64 `json:"p999"`
	P99  float64 `json:"p99"`
	P98  float64 `json:"p98"`
	P95  float64 `json:"p95"`
	P90  float64 `json:"p90"`
	P50  float64 `json:"p50"`
}

// A statementLine is a line of JSON on standard error while a statement runs:
// the figures so far, and the figures of the interval.
type statementLine struct {
	Statement int     `json:"statement"`
	Warmup    bool    `json:"warmup"`
	Elapsed   float64 `json:"elapsed_s"`
	Figures
	IntervalRequests uint64 `json:"interval_requests"`
	IntervalBytes    int64  `json:"interval_bytes"`
}

// A Table shows the progress of the statements of a script. It is a sink
// of the records.
type Table struct {
	*command.Invocation
	report     Report
	statements []script.Statement
	steps      []bench.ScriptStep
	unwritten  error // first error of writing a line

	mu         sync.Mutex
	step       *bench.ScriptStep
	began      time.Time
	peak       *bench.Peak
	warm, rest statementSums
	firstError string
	stop       func()
}

// statementSums add up records.
type statementSums struct {
	counter.Counter
	shown          counter.Counter // at the previous line
	duration, ttfb stats.Histogram
	errors         map[int]int64 // by HTTP status
	maxConcurrent  int
	intervalMax    int
}

// New returns the table of statements, whose steps are executed in the same order.
func New(inv *command.Invocation, statements []script.Statement, steps []bench.ScriptStep) *Table {
	return &Table{Invocation: inv, statements: statements, steps: steps}
}

// ShowSettings shows what all statements have in common.
func (t *Table) ShowSettings(f *target.Flags, client *store.Client) {
	t.report.Version, t.report.Benchmark = 1, "script"
	t.report.Settings = settings{Engine: client.EngineName(), Region: f.Region, BaseURI: client.Endpoints(), Bucket: f.Buckets[0]}
	t.report.Statements = []statementReport{}
	key := "from the environment or a profile"
	if source := f.CredentialSource(); strings.Contains(source, "anonymous") {
		key = "none"
	} else if source != "" {
		key = "from " + source
	}
	switch {
	case f.AccessKey != "":
		key = redact.Mark
	case f.Host == target.EmbeddedHost:
		key = "any"
	}
	if t.Quiet {
		return
	}
	t.print("Settings:")
	for _, line := range [][2]string{
		{"implementation", f.Provider.Title + ", engine " + t.report.Settings.Engine},
		{"region", cmp.Or(f.Region, "what the store says")},
		{"base uri", strings.Join(t.report.Settings.BaseURI, ", ")},
		{"bucket", t.report.Settings.Bucket},
		{"access key", key},
	} {
		t.print(fmt.Sprintf("  %-15s: %s", line[0], line[1]))
	}
}

// print writes one line of the table, except with --json. A failure does not end the script, because there is the log.
func (t *Table) print(line string) {
	if t.JSON {
		return
	}
	err := t.Resultf("%s\n", line)
	if t.unwritten == nil {
		t.unwritten = err
	}
}

// Begin is called before a statement.
func (t *Table) Begin(number int, peak *bench.Peak) {
	text, step := t.Hide.Text(t.statements[number-1].Text), &t.steps[number-1]
	report := statementReport{Number: number, Statement: text}
	t.print("")
	t.print("Starting script statement: " + text + " ...")
	if step.Op == "PUT" || step.Op == "" {
		report.Strategy, report.Seed = string(t.statements[number-1].Strategy), step.Seed
		t.print("")
		line := fmt.Sprintf("Naming strategy '%s' uses seed %q", report.Strategy, step.Seed)
		t.print(line)
		if t.JSON { // the document is missing if the process is killed
			t.Notef("statement %d: %s", number, line)
		}
	}
	t.report.Statements = append(t.report.Statements, report)
	if step.Op == "" {
		t.stop = func() {}
		return
	}
	for _, line := range statementHead() {
		t.print(line)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step, t.peak, t.began, t.firstError = step, peak, time.Now(), ""
	t.warm, t.rest = statementSums{}, statementSums{}
	t.stop = live.Every(interval, t.tick)
}

// End is called after it, when all records were written.
func (t *Table) End(number int) {
	t.stop()
	if t.steps[number-1].Op != "" {
		t.final(&t.report.Statements[number-1])
	}
	t.print("Statement finished: " + t.report.Statements[number-1].Statement)
}

// Finish ends the table, after all statements and with the assertions about them. With --json, it writes the document.
func (t *Table) Finish(log string, trailer oplog.Trailer, judged []results.Assertion) error {
	if !t.JSON {
		return t.unwritten
	}
	r := &t.report
	r.Log, r.Assertions, r.End, r.EndReason = log, judged, trailer.End, trailer.Reason
	r.Notes = append([]string{}, trailer.Notes...)
	t.Hide.Strings(r)
	return exit.Join(t.unwritten, t.ResultJSON(r))
}

// Skipped returns a note about statements that were not started, "" if all were.
// The user of a DELETE at the end has to know that objects stay.
func (t *Table) Skipped() string {
	begun, all := len(t.report.Statements), len(t.statements)
	deletes := func(s script.Statement) bool { return s.Verb == script.Delete }
	var note string
	switch left := all - begun; left {
	case 0:
		return ""
	case 1:
		note = fmt.Sprintf("statement %d was not run", all)
	default:
		note = fmt.Sprintf("statements %d to %d were not run", begun+1, all)
	}
	if slices.ContainsFunc(t.statements[begun:], deletes) {
		note += "; what a DELETE there would have removed is still in the bucket"
	}
	return note
}

func (t *Table) final(report *statementReport) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.updatePeak(false)
	if t.step.Warmup > 0 {
		// Not before: its last requests may end long after it.
		report.Warmup = t.warm.figures()
		t.print(t.warm.line("WARMUP", t.warm.maxConcurrent, int64(t.warm.Bytes), t.warm.Requests))
	}
	report.Final = t.rest.figures()
	t.print(t.rest.line("FINAL ", t.rest.maxConcurrent, int64(t.rest.Bytes), t.rest.Requests))
	if t.firstError != "" {
		t.Warnf("statement %d: the first of its errors: %s", report.Number, t.firstError)
	}
}

// Write takes records of the statement.
func (t *Table) Write(batch []oplog.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range batch {
		r := &batch[i]
		sums := &t.rest
		if r.Statement.WarmUp {
			sums = &t.warm
		}
		sums.add(r)
		if r.Err != "" && t.firstError == "" {
			t.firstError = strings.Clone(r.Err)
		}
	}
	return nil
}

// Flush does nothing.
func (t *Table) Flush() error { return nil }

// tick shows a line of the statement.
func (t *Table) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	elapsed := time.Since(t.began)
	sums := &t.rest
	if elapsed < t.step.Warmup {
		sums = &t.warm
	}
	t.updatePeak(sums == &t.warm)
	switch {
	case t.Quiet:
	case t.JSON:
		t.Figures(statementLine{
			len(t.report.Statements), sums == &t.warm, human.Thousandths(elapsed.Seconds()), *sums.figures(), sums.Requests - sums.shown.Requests, int64(sums.Bytes - sums.shown.Bytes),
		})
	default:
		t.print(sums.line(t.left(elapsed), sums.intervalMax, int64(sums.Bytes-sums.shown.Bytes), sums.Requests-sums.shown.Requests))
	}
	sums.shown, sums.intervalMax = sums.Counter, 0
}

// left returns the first column: the time that is left or, if that is unknown, the
// elapsed time.
func (t *Table) left(elapsed time.Duration) string {
	mark := ""
	if elapsed < t.step.Warmup {
		mark = "w "
	}
	if t.step.Runtime > 0 {
		return fmt.Sprintf("%s%ds", mark, max(0, (t.step.Warmup+t.step.Runtime-elapsed+interval/2)/time.Second))
	}
	return fmt.Sprintf("%s+%ds", mark, (elapsed+interval/2)/time.Second)
}

func (t *Table) updatePeak(warming bool) {
	warm, rest := t.peak.Reset(warming)
	for s, n := range map[*statementSums]int{&t.warm: warm, &t.rest: rest} {
		s.maxConcurrent, s.intervalMax = max(s.maxConcurrent, n), max(s.intervalMax, n)
	}
}

// add counts every request, and times and bytes of the successful ones.
func (s *statementSums) add(r *oplog.Record) {
	s.Counter.Add(r)
	if r.Err != "" {
		if s.errors == nil {
			s.errors = make(map[int]int64)
		}
		s.errors[int(r.Status)]++
		return
	}
	s.duration.Add(r.Duration)
	if ttfb, seen := r.TTFB(); seen {
		s.ttfb.Add(ttfb)
	}
}

// A timeColumn is one of the columns of times.
type timeColumn struct {
	name string
	of   func(h *stats.Histogram) float64 // ns
}

func timeColumns() []timeColumn {
	columns := []timeColumn{
		{"mean", (*stats.Histogram).Mean},
		{"max", func(h *stats.Histogram) float64 { return float64(h.Max()) }},
	}
	for _, p := range []struct {
		name string
		q    float64
	}{{"p999", .999}, {"p99", .99}, {"p98", .98}, {"p95", .95}, {"p90", .9}, {"p50", .5}} {
		columns = append(columns, timeColumn{p.name, func(h *stats.Histogram) float64 { return float64(h.Quantile(p.q)) }})
	}
	return columns
}

// statementHead returns the two lines above the figures.
func statementHead() []string {
	var names []string
	for _, c := range timeColumns() {
		names = append(names, fmt.Sprintf("%9s", c.name))
	}
	times := strings.Join(names, " | ")
	width := len(times)
	return []string{
		fmt.Sprintf("                    ‖ %-*s ‖ %s", width, "Request Duration [ms]", "Time to 1st bytes [ms]"),
		fmt.Sprintf("         | %8s ‖ %s ‖ %s ‖ %7s | %8s | %5s ‖ errors", "count", times, times, "concurr", "bytes", "req's"),
	}
}

// line returns a line of figures.
func (s *statementSums) line(first string, concurrency int, bytes int64, requests uint64) string {
	cells := func(h *stats.Histogram) string {
		var all []string
		for _, c := range timeColumns() {
			ms := 0.0
			if h.Count() > 0 {
				ms = c.of(h) / 1e6
			}
			all = append(all, fmt.Sprintf("%9.2f", ms))
		}
		return strings.Join(all, " | ")
	}
	line := fmt.Sprintf("%8s | %8d ‖ %s ‖ %s ‖ %7d | %8s | %5d ‖ %s", first, s.Requests, cells(&s.duration), cells(&s.ttfb),
		concurrency, decimalBytes(bytes), requests, s.errorText())
	return strings.TrimRight(line, " ")
}

func (s *statementSums) errorText() string {
	var all []string
	for _, status := range slices.Sorted(maps.Keys(s.errors)) {
		all = append(all, fmt.Sprintf("%d:%d", status, s.errors[status]))
	}
	return strings.Join(all, ", ")
}

// decimalBytes writes 200.0MB.
func decimalBytes(n int64) string {
	value, unit := float64(n), "B"
	for _, larger := range []string{"KB", "MB", "GB", "TB", "PB"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%.1f%s", value, unit)
}

// figures returns the sums for JSON.
func (s *statementSums) figures() *Figures {
	f := &Figures{Count: s.Requests, Bytes: int64(s.Bytes), MaxConcurrent: s.maxConcurrent, Errors: map[string]int64{}, Duration: timesOf(&s.duration), TTFB: timesOf(&s.ttfb)}
	for status, n := range s.errors {
		f.Errors[fmt.Sprint(status)] = n
	}
	return f
}

func timesOf(h *stats.Histogram) *Times {
	if h.Count() == 0 {
		return nil
	}
	ms := func(q float64) float64 { return float64(h.Quantile(q)) / 1e6 }
	return &Times{h.Mean() / 1e6, float64(h.Max()) / 1e6, ms(.999), ms(.99), ms(.98), ms(.95), ms(.9), ms(.5)}
}
