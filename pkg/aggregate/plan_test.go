package aggregate

import (
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
)

func plan(t *testing.T, o Options, rows ...oplog.Record) *Plan {
	t.Helper()
	var s Survey
	_ = s.Write(rows)
	p, err := s.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// of makes the row one of another operation.
func of(op string, r oplog.Record) oplog.Record {
	r.Op = op
	return r
}

// by makes the row one of another run.
func by(run string, r oplog.Record) oplog.Record {
	r.Run = run
	return r
}

func names(p *Plan) string {
	var groups []string
	for _, g := range p.Groups {
		var ops []string
		for _, op := range g.Ops {
			ops = append(ops, op.Name)
		}
		groups = append(groups, strings.Join(ops, "+"))
	}
	return strings.Join(groups, " ")
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for want, rows := range map[string][]oplog.Record{
		"PUT GET":     {of("PUT", req(0, 0, 10)), of("GET", req(0, 10, 20))}, // touching
		"GET+PUT":     {of("PUT", req(0, 0, 11)), of("GET", req(1, 10, 20))},
		"DEL+GET+PUT": {of("PUT", req(0, 0, 12)), of("DEL", req(1, 18, 30)), of("GET", req(2, 10, 20))}, // by way of GET
		"PUT GET DEL": {of("DEL", req(0, 50, 60)), of("GET", req(0, 20, 30)), of("PUT", req(0, 0, 10))},
		// Two machines whose phases are shifted against each other.
		"PUT STAT": {
			by("a", of("PUT", req(0, 0, 10))), by("a", of("STAT", req(0, 10, 30))),
			by("b", of("PUT", req(0, 0, 15))), by("b", of("STAT", req(0, 16, 36))),
		},
	} {
		if got := names(plan(t, Options{}, rows...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestActiveWindow(t *testing.T) {
	t.Parallel()
	rows := []oplog.Record{
		req(0, 0, 10), req(0, 10, 200), req(0, 200, 220),
		req(1, 0, 40), req(1, 50, 60), req(1, 190, 300),
		req(2, 5, 30), of("PUT", req(2, 31, 32)), of("PUT", req(2, 250, 251)),
	}
	rows[3].Err = "Failed: but the thread was at work"
	g := plan(t, Options{}, rows...).Groups[0]
	if g.Start != ms(40) || g.End != ms(190) || g.Basis != Active || g.Threads != 3 {
		t.Errorf("%+v", g)
	}
	g = plan(t, Options{Skip: 100 * time.Millisecond}, rows...).Groups[0]
	if g.Start != ms(140) || g.End != ms(190) || g.Basis != Active {
		t.Errorf("after skipping: %+v", g)
	}
	g = plan(t, Options{Skip: time.Second}, rows...).Groups[0]
	if g.Basis != NoWindow || g.Seconds() != 0 {
		t.Errorf("after skipping everything: %+v", g)
	}
}

func TestWindowsOfSeveralRuns(t *testing.T) {
	t.Parallel()
	run := func(name string, from int64) (rows []oplog.Record) {
		for i := range int64(10) {
			rows = append(rows, by(name, req(0, from+i*10, from+i*10+10)))
		}
		return rows
	}
	g := plan(t, Options{}, append(run("a", 0), run("b", 45)...)...).Groups[0]
	if g.Start != ms(55) || g.End != ms(90) || g.Basis != Active || g.Runs != 2 || g.Clients != 2 {
		t.Errorf("overlapping: %+v", g)
	}
	// They overlap, but not long enough for all threads to be at work.
	g = plan(t, Options{}, append(run("a", 0), run("b", 85)...)...).Groups[0]
	if g.Start != ms(85) || g.End != ms(100) || g.Basis != WarmUp {
		t.Errorf("hardly overlapping: %+v", g)
	}
	apart := append(run("a", 0), run("b", 500)...)
	g = plan(t, Options{}, apart...).Groups[0]
	if g.Basis != NoWindow {
		t.Errorf("apart: %+v", g)
	}
	r := analyze(t, apart, Options{})
	op := r.Operations[0]
	if op.Requests != 20 || op.ObjectsPerS != 0 || op.Duration != nil || len(op.Segments) != 0 {
		t.Errorf("%+v", op)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "do not overlap") {
		t.Errorf("warnings %q", r.Warnings)
	}
	// Rows of other tools have no run: there the client tells runs apart.
	for i := range apart {
		apart[i].Client, apart[i].Run = apart[i].Run, ""
	}
	if g := plan(t, Options{}, apart...).Groups[0]; g.Basis != NoWindow || g.Runs != 2 {
		t.Errorf("clients apart: %+v", g)
	}
}

func TestSegmentFor(t *testing.T) {
	t.Parallel()
	for i, d := range ladder[1:] {
		if d%ladder[i] != 0 {
			t.Errorf("%v does not divide %v", ladder[i], d)
		}
	}
	for window, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Second: time.Second, 400 * time.Second: time.Second, 401 * time.Second: 5 * time.Second,
		time.Hour: 10 * time.Second, 24 * time.Hour: 5 * time.Minute, 1 << 62: 24 * time.Hour * 134,
	} {
		got, err := segmentFor(int64(window), 0)
		if err != nil || got < want || window < 1<<60 && got != want {
			t.Errorf("%v: got %v, %v; want %v", window, got, err, want)
		}
		if int64(window)/int64(got) > defaultSegments {
			t.Errorf("%v: too many segments of %v", window, got)
		}
	}
}
