package fleet

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/aggregate"
	"warp/pkg/fleet/agent"
	"warp/pkg/fleet/protocol"
	"warp/pkg/oplog"
	"warp/pkg/report"
	"warp/pkg/report/printer"
	"warp/pkg/results"
)

// A run without logs has a report of everything that the clients have counted,
// and leaves no files. [TestReportIsThatOfTheLog] compares the figures with a log's.
func TestStress(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	var ms []*machine
	for i := range 3 {
		ms = append(ms, startMachine(t, func(o *agent.Options) { o.Skew = time.Duration(i-1) * 300 * time.Millisecond }))
	}
	f := lead(t, nil, ms...)
	p := getPlan(t, e.Addr(), untilWarm)
	p.Job.NoLog = true
	measured(t, f, p)
	got, err := f.Report()
	check.OK(t, err)
	check.OK(t, f.Clean(t.Context()))
	r := f.Result()
	requests := int64(0)
	for _, op := range got.Operations {
		requests += int64(op.Requests)
	}
	if len(got.Operations) != 2 || got.Operations[1].Clients != 3 || r.Sent == 0 || requests != r.Sent {
		t.Errorf("%d requests were sent, and the report says %+v", r.Sent, got)
	}
	if got.Benchmark != "get" || got.Command != "warp get" || got.End != "completed" {
		t.Errorf("%q %q %q", got.Benchmark, got.Command, got.End)
	}
	empty(t, e.Addr())
	nothingKept(t, ms...)
	if files, _ := os.ReadDir(filepath.Dir(f.options.Spool("x"))); len(files) > 0 {
		t.Errorf("there are files: %v", files)
	}
}

// nothingKept fails if a machine has files, or a log to collect.
func nothingKept(t *testing.T, ms ...*machine) {
	t.Helper()
	if _, err := lead(t, nil, ms...).Collect(t.Context(), "", nil); !errors.Is(err, errNothingKept) {
		t.Errorf("logs to collect: %v", err)
	}
	for _, m := range ms {
		if files, _ := os.ReadDir(m.folder); len(files) > 0 {
			t.Errorf("there are files: %v", files)
		}
	}
}

// text is the report without what only a run knows.
func text(t *testing.T, r *results.Report) string {
	t.Helper()
	bare := *r
	bare.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return strings.HasPrefix(w, "this machine may have been the limit") })
	bare.Describe(oplog.Header{}, oplog.Trailer{})
	var b strings.Builder
	check.OK(t, report.CSV(&b, &bare))
	check.OK(t, report.Text(&b, &bare, printer.Options{}))
	return b.String()
}

// The figures of a client that was lost are left out.
func TestStressWithoutOne(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	other := startMachine(t, nil)
	away := startMachine(t, nil)
	w, behind := through(t, away)
	f := lead(t, shortTimeouts, other, behind)
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.NoLog = true
	ctx := t.Context()
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, p))
	check.OK(t, f.Measure(ctx, func() {
		when(t, func() bool { return working(f) }, func() {
			w.hold()
			w.cut()
			_ = f.await(ctx, "to be lost", time.Minute, forCounted, func(l *link) bool { return l.name() != behind.addr })
			f.End("one is lost")
		})
	}))
	check.OK(t, f.Finish(ctx))
	report, err := f.Report()
	check.OK(t, err)
	r := f.Result()
	w.release()
	if len(r.Lost) != 1 || len(report.Operations) != 2 || !strings.Contains(strings.Join(report.Warnings, "\n"), "client "+behind.addr+" was lost") {
		t.Errorf("%+v %+v", r, report.Warnings)
	}
	requests := int64(0)
	for _, op := range report.Operations {
		requests += int64(op.Requests)
		if op.Clients != 1 || len(op.ByClient) != 1 || op.ByClient[0].Name != f.links[0].name() {
			t.Errorf("%s: %+v", op.Op, op.ByClient)
		}
	}
	if requests != r.Sent {
		t.Errorf("%d requests in the report, and %d were sent", requests, r.Sent)
	}
	away.stop() // or its lease would be waited for
	check.OK(t, f.Clean(ctx))
}

// A client that is cut off before it is warm keeps the others neither from
// measuring nor from reporting, whether it is given up before their end or after.
func TestLostBeforeTheWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		duration, timeout time.Duration
		begins            bool
	}{
		"the window begins without it":   {15 * time.Second, 20 * time.Second, true},
		"the run ends before it is lost": {3 * time.Second, 12 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := embedded(t)
			w, behind := through(t, startMachine(t, nil))
			f := lead(t, func(o *Options) { o.Timeout = c.timeout }, startMachine(t, nil), behind)
			p := getPlan(t, e.Addr(), c.duration)
			p.Job.NoLog = true
			ctx := t.Context()
			check.OK(t, f.Connect(ctx))
			check.OK(t, f.Prepare(ctx, p))
			check.OK(t, f.Measure(ctx, func() { w.hold(); w.cut() }))
			check.OK(t, f.Finish(ctx))
			report, err := f.Report()
			check.OK(t, err)
			r := f.Result()
			w.release()
			if len(r.Lost) != 1 || r.Sent == 0 || len(report.Operations) != 2 || report.Operations[1].Clients != 1 {
				t.Errorf("%+v %+v", r, report.Operations)
			}
			if (f.window.Begin != 0) != c.begins {
				t.Errorf("%+v", f.window)
			}
		})
	}
}

// Nobody hears of windows after the coordinator is gone; nothing is left of the run.
func TestStressAlone(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	m := startMachine(t, shortTimeout)
	f := lead(t, nil, m)
	p := getPlan(t, e.Addr(), time.Hour)
	p.Job.NoLog = true
	check.OK(t, f.Connect(t.Context()))
	check.OK(t, f.Prepare(t.Context(), p))
	_, err := f.announceStart()
	check.OK(t, err)
	check.Eventually(t, "requests", func() bool { return working(f) })
	f.Close()
	m.waitUntilFree(t)
	empty(t, e.Addr())
	nothingKept(t, m)
}

// A client whose figures cannot be read is lost.
func TestHostileSummary(t *testing.T) {
	t.Parallel()
	f := New(Options{Members: make([]Member, 2)})
	hostile := &clientSession{link: f.links[0]}
	if err := hostile.handle(protocol.KindSummary, []byte("these are no figures at all")); err == nil {
		t.Error("they were taken")
	}
	if r := f.Result(); len(r.Lost) != 1 || !strings.Contains(r.Lost[0].Error(), "cannot be read") {
		t.Errorf("%+v", r)
	}
}

// The report of a fleet says what analyze says of the merged log.
func TestReportIsThatOfTheLog(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	var ms []*machine
	for i := range 3 {
		ms = append(ms, startMachine(t, func(o *agent.Options) { o.Skew = time.Duration(i-1) * 300 * time.Millisecond }))
	}
	f := lead(t, nil, ms...)
	ctx := t.Context()
	measured(t, f, getPlan(t, e.Addr(), untilWarm))
	got, err := f.Report()
	check.OK(t, err)
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	_, _, err = f.Merge(ctx, path)
	check.OK(t, err)
	check.OK(t, f.Clean(ctx))
	want, err := aggregate.Analyze(&logFile{t, path}, aggregate.Options{})
	check.OK(t, err)
	if text(t, got) != text(t, want) {
		t.Errorf("the report is\n%s\nand that of the merged log\n%s", text(t, got), text(t, want))
	}
	op := got.Operations[len(got.Operations)-1]
	if op.WindowBasis != results.Measured || op.Clients != 3 {
		t.Errorf("%+v", op)
	}
	for i, l := range f.links { // by address, as on the command line
		if op.ByClient[i].Name != l.name() || strings.Contains(text(t, got), l.id) {
			t.Errorf("client %s is called %s in the report", l.name(), op.ByClient[i].Name)
		}
	}
}

// A logFile is a log on disk.
type logFile struct {
	t    *testing.T
	path string
}

func (l *logFile) open() *oplog.Reader {
	r, err := oplog.Open(l.path)
	check.OK(l.t, err)
	return r
}

func (l *logFile) Header() oplog.Header {
	r := l.open()
	defer r.Close()
	return r.Header()
}

func (l *logFile) Read(decided func(oplog.Window, []oplog.Mark) error, rows func([]oplog.Record) error) (oplog.Trailer, error) {
	r := l.open()
	defer r.Close()
	err := r.EachInWindow(l.t.Context(), func(w oplog.Window, marks []oplog.Mark) { check.OK(l.t, decided(w, marks)) }, rows)
	return r.Trailer(), err
}

// Figures of a run that goes on are taken where they are wanted, and added up
// once all clients that count have sent some of the same window.
func TestReportSoFar(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second)
	counted := func(begin int64) []byte {
		s := aggregate.NewSummary(aggregate.Options{})
		check.OK(t, s.SetWindow(oplog.Window{Start: second, Begin: begin}))
		for i := range int64(20) {
			check.OK(t, s.Write([]oplog.Record{{Op: "GET", Endpoint: "http://a", Objects: 1, Start: 2*second + i, Duration: time.Millisecond, Status: 200}}))
		}
		body, err := s.Encode()
		check.OK(t, err)
		return body
	}
	f := New(Options{Members: make([]Member, 3)})
	talk := func(i int, body []byte) error {
		return (&clientSession{link: f.links[i]}).handle(protocol.KindSoFar, body)
	}
	if talk(0, counted(second)) == nil {
		t.Error("figures that nobody asked for were taken")
	}
	f.links[2].lost = io.ErrUnexpectedEOF
	for i := range 2 {
		if f.ReportSoFar() != nil {
			t.Errorf("there is a report of %d clients of two", i)
		}
		f.links[i].job = &protocol.Job{Follow: true}
		check.OK(t, talk(i, counted(second)))
	}
	if r := f.ReportSoFar(); r == nil || len(r.Operations) != 1 || r.Operations[0].Inside != 40 {
		t.Errorf("%+v", r)
	}
	for name, body := range map[string][]byte{"another window": counted(2 * second), "nonsense": []byte("no figures")} {
		check.OK(t, talk(1, body))
		if f.ReportSoFar() != nil {
			t.Errorf("%s: there is a report", name)
		}
	}
}
