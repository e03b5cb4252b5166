package aggregate

import (
	"bytes"
	"compress/flate"
	"io"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// TestTimesOfManyHosts has more hosts than request times are kept for, and merges parts with few
// enough hosts.
func TestTimesOfManyHosts(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{1, 16, 17, 40} {
		l := testlog.Load{Ops: []string{"GET", "STAT"}, Threads: 8, Hosts: hosts, Length: 2 * time.Second, Latency: 10 * time.Millisecond, Failures: .02}
		rows := l.Rows(3)
		w := windowOf(rows)
		whole := count(t, rows, w, Options{Verbose: true})
		whole.windows.Common.Cold, whole.groupOf(measured, oplog.Statement{}).window.Cold = 3, 3
		r, err := whole.Report()
		check.OK(t, err)
		for _, op := range r.Operations {
			timesAddUp(t, op.Segments, op.Inside)
			for _, h := range op.Hosts {
				want := h.Inside
				if n := len(op.Hosts); n == 1 || n > 16 {
					want = 0
				}
				timesAddUp(t, h.Segments, want)
			}
		}
		want := render(t, r)
		byHost := func(_ int, r *oplog.Record) int {
			return 10*int(r.Endpoint[len("http://host")]) + int(r.Endpoint[len("http://host")+1])
		}
		inTurns := func(i int, _ *oplog.Record) int { return i }
		for name, rule := range map[string]func(int, *oplog.Record) int{"some hosts each": byHost, "all hosts each": inTurns} {
			parts := pieces(rows, 3, rule)
			same(t, name, merged(t, parts, w, []int{2, 1, 0}, false), want)
			same(t, name+", nested", merged(t, parts, w, []int{1, 2, 0}, true), want)
		}
	}
}

func timesAddUp(t *testing.T, all []results.Segment, want uint64) {
	t.Helper()
	var n uint64
	for _, s := range all {
		if s.Duration != nil {
			n += s.Duration.Count
		}
	}
	if n != want {
		t.Errorf("segments have the times of %d requests, want %d", n, want)
	}
}

// TestTimesThatAreTooMany has a client whose times by host are larger than a coordinator accepts.
// The times of all its hosts are then merged.
func TestTimesThatAreTooMany(t *testing.T) {
	t.Parallel()
	o := Options{Verbose: true}
	rows := testlog.Loads()["mixed"].Rows(2)
	w := windowOf(rows)
	parts := pieces(rows, 3, func(i int, _ *oplog.Record) int { return i })
	var want string
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		sum := NewSummary(o)
		for _, i := range order {
			limit := maxHostTimes
			if i == 1 {
				limit = 0
			}
			b, err := count(t, parts[i], w, o).encodeWithin(limit)
			check.OK(t, err)
			far, err := Decode(b, o)
			check.OK(t, err)
			check.OK(t, sum.Merge(far))
		}
		sum.Close(oplog.Trailer{})
		r, err := sum.Report()
		check.OK(t, err)
		for _, op := range r.Operations {
			timesAddUp(t, op.Segments, op.Inside)
			for _, h := range op.Hosts {
				timesAddUp(t, h.Segments, 0)
			}
		}
		got := render(t, r)
		if want == "" {
			want = got
		}
		same(t, "another order", got, want)
	}
}

// FuzzDecode decodes anything. If Decode accepts it, it can be merged and reported.
func FuzzDecode(f *testing.F) {
	rows := testlog.Loads()["mixed"].Rows(1)[:60]
	s := NewSummary(Options{})
	_ = s.SetWindow(windowOf(rows))
	_ = s.Write(rows)
	good, err := s.Encode()
	check.OK(f, err)
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(good)))
	check.OK(f, err)
	f.Add(string(text))
	f.Add(`{"Groups":[{"Kind":1,"Ops":[{"ID":{"Name":"GET"},"Requests":1}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestSpeed)
		check.OK(t, err)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		s, err := Decode(b.Bytes(), Options{})
		if err != nil {
			return
		}
		sum := NewSummary(Options{})
		_ = sum.Merge(s)
		sum.Close(oplog.Trailer{})
		_, _ = sum.Report()
	})
}
