package aggregate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// A process is one of several in a test.
type process struct {
	id   client
	rows []oplog.Record
	*Deferred
}

func (p *process) digest(t testing.TB) ClientDigest {
	t.Helper()
	text, err := json.Marshal(p.Digest()) // as it travels
	if err != nil {
		t.Fatal(err)
	}
	d := ClientDigest{Run: p.id.run, Client: p.id.id}
	if err := json.Unmarshal(text, &d.Phases); err != nil {
		t.Fatal(err)
	}
	if err := CheckDigest(d.Phases); err != nil {
		t.Fatal(err)
	}
	return d
}

// processes splits rows by client.
func processes(rows []oplog.Record, o Options) []*process {
	var all []*process
	for _, r := range rows {
		c := client{r.Run, r.Client}
		at := slices.IndexFunc(all, func(p *process) bool { return p.id == c })
		if at < 0 {
			at = len(all)
			all = append(all, &process{id: c, Deferred: NewShared(o)})
			all[at].every = 20
		}
		all[at].rows = append(all[at].rows, r)
	}
	return all
}

func digests(t testing.TB, all []*process) (list []ClientDigest) {
	t.Helper()
	for _, p := range all {
		list = append(list, p.digest(t))
	}
	return list
}

// feed hands all rows out bit by bit, and has the processes talk now and then.
func feed(t testing.TB, j *Joint, all []*process, rng *rand.Rand) {
	t.Helper()
	for left := true; left; {
		left = false
		for _, p := range all {
			n := min(len(p.rows), rng.IntN(200))
			_ = source(p.rows[:n])(p.Write)
			p.rows = p.rows[n:]
			left = left || len(p.rows) > 0
		}
		if rng.IntN(3) > 0 {
			bounds := j.Look(digests(t, all))
			for _, p := range all {
				if rng.IntN(4) > 0 { // some hear of it later
					p.Bound(bounds)
				}
			}
		}
	}
}

// conclude makes the report of those that are left.
func conclude(t testing.TB, j *Joint, all []*process) *Report {
	t.Helper()
	know := digests(t, all)
	windows, err := j.Close(know)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(windows) // as they travel
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		var here []Group
		if err := json.Unmarshal(text, &here); err != nil {
			t.Fatal(err)
		}
		b, err := p.Finish(here)
		if err == nil {
			err = j.Add(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := j.Report(know)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The report of processes without logs is that of the log that they would have written together.
func TestJointEqualsAnalyze(t *testing.T) {
	t.Parallel()
	for name, l := range loads() {
		for _, o := range []Options{{}, {SegmentDur: 700 * time.Millisecond}, {Skip: 500 * time.Millisecond}, {Op: l.ops[0], Host: "host0:9000"}} {
			for clients := 1; clients <= 3; clients += 2 {
				l, o := l, o
				l.clients = max(l.clients, clients)
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					if l.length > 24*time.Hour && o.SegmentDur > 0 {
						o.SegmentDur = time.Hour
					}
					rows := l.make(11)
					for i := range rows {
						if i%3 == 0 {
							rows[i].Phases = &oplog.Phases{1, 2, 3, 4, 5, 6}
						}
					}
					all := processes(rows, o)
					var prepare []oplog.Record
					if !slices.Contains(l.ops, "PUT") && l.runs <= 1 {
						prepare = load{ops: []string{"PUT"}, clients: l.clients, threads: 3, length: time.Second, latency: 9 * time.Millisecond}.make(5)
					}
					j := NewJoint(o)
					rng := rand.New(rand.NewPCG(1, uint64(len(rows))))
					for i := range prepare {
						prepare[i].Start -= int64(time.Minute)
					}
					before := processes(prepare, o)
					for _, p := range all {
						p.BeginPhase(3)
						if at := slices.IndexFunc(before, func(b *process) bool { return b.id == p.id }); at >= 0 {
							_ = source(before[at].rows)(p.Write)
						}
						p.BeginPhase(l.threads)
					}
					feed(t, j, all, rng)
					got := conclude(t, j, all)
					want := analyze(t, append(prepare, rows...), o)
					same(t, "joint", render(t, got), render(t, want))
				})
			}
		}
	}
}

// Who is lost is left out; the window of the others may be shorter for it, and their figures are exact.
func TestJointWithoutOne(t *testing.T) {
	t.Parallel()
	rows := load{ops: []string{"GET"}, clients: 3, threads: 2, length: 4 * time.Second, latency: 10 * time.Millisecond}.make(3)
	for i := range rows {
		if rows[i].Client == "c2" {
			rows[i].Start += int64(500 * time.Millisecond)
		}
	}
	all := processes(rows, Options{})
	j := NewJoint(Options{})
	for _, p := range all {
		p.BeginPhase(2)
	}
	feed(t, j, all, rand.New(rand.NewPCG(1, 2)))
	if !j.phases[0].bounds.Open {
		t.Fatal("the window never opened")
	}
	start := j.phases[0].bounds.Opens
	all = slices.DeleteFunc(all, func(p *process) bool { return p.id.id == "c2" })
	got := conclude(t, j, all)
	rows = slices.DeleteFunc(rows, func(r oplog.Record) bool { return r.Client == "c2" })
	whole := analyze(t, rows, Options{})
	skip := time.Duration(start - whole.Operations[0].WindowStart.UnixNano())
	if skip <= 0 {
		t.Fatal("this test proves nothing")
	}
	want := analyze(t, rows, Options{Skip: skip})
	same(t, "joint", render(t, got), render(t, want))
}

// Where one cannot wait, the others are told, and the report says so.
func TestJointSaysWhenNotExact(t *testing.T) {
	t.Parallel()
	rows := load{ops: []string{"GET"}, clients: 2, threads: 4, length: 5 * time.Second, latency: time.Millisecond}.make(1)
	n := len(rows)
	rows = slices.DeleteFunc(rows, func(r oplog.Record) bool { return r.Thread == 3 && r.Client == "c0" })
	all := processes(rows, Options{})
	j := NewJoint(Options{})
	for _, p := range all {
		p.bound = 2000
		p.BeginPhase(4)
	}
	feed(t, j, all, rand.New(rand.NewPCG(1, 2)))
	r := conclude(t, j, all)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not exact") || r.Operations[0].Requests != uint64(len(rows)) || n == len(rows) {
		t.Errorf("%d of %d requests, warnings: %q", r.Operations[0].Requests, len(rows), r.Warnings)
	}
}

func TestHostileDigests(t *testing.T) {
	t.Parallel()
	op := []OpDigest{{Name: "GET", Requests: 1, Last: 1}}
	for name, d := range map[string][]PhaseDigest{
		"phases":    make([]PhaseDigest, maxPhases+1),
		"threads":   {{Threads: maxThreads + 1}},
		"negative":  {{Threads: -1}},
		"nobody":    {{Ops: op}},
		"ops":       {{Threads: 1, Ops: make([]OpDigest, maxLiveOps+1)}},
		"name":      {{Threads: 1, Ops: []OpDigest{{Name: strings.Repeat("x", maxLiveName+1)}}}},
		"backwards": {{Threads: 1, Ops: []OpDigest{{First: 2, Last: 1}}}},
	} {
		if CheckDigest(d) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// Times from anywhere make odd windows, and nothing worse.
	for _, g := range []PhaseDigest{
		{Threads: 1, Ready: true, Opens: math.MinInt64, Closes: math.MaxInt64, Ops: op}, {Threads: 1, Forced: true, Opens: math.MaxInt64, Ops: op},
		{Threads: 1, Ready: true, Opens: 1, Closes: 2, Ops: []OpDigest{{"GET", math.MaxUint64, math.MinInt64, math.MaxInt64}, {"GET", 1, 2, 3}}},
	} {
		j := NewJoint(Options{Skip: time.Second})
		all := []ClientDigest{{Run: "r", Client: "a", Phases: []PhaseDigest{g}}, {Run: "r", Client: "b"}}
		j.Look(all)
		if _, err := j.Close(all); err == nil {
			_, _ = j.Report(all)
		}
	}
}

// Windows of a coordinator cannot make a client keep segments without end.
func TestHostileWindows(t *testing.T) {
	t.Parallel()
	for _, w := range []Group{
		{End: int64(3 * time.Second), Segment: time.Microsecond}, {End: math.MaxInt64, Segment: time.Microsecond},
		{End: int64(3 * time.Second)}, {End: int64(3 * time.Second), Segment: -1},
	} {
		d := NewShared(Options{})
		d.BeginPhase(1)
		_ = d.Write([]oplog.Record{{Op: "GET", Start: int64(2 * time.Second), Duration: time.Second}})
		if _, err := d.Finish([]Group{w}); err == nil {
			t.Errorf("%d segments of %v were taken", distance(w.Start, w.End), w.Segment)
		}
	}
}

func FuzzJointAdd(f *testing.F) {
	rows := load{ops: []string{"GET", "PUT"}, clients: 1, threads: 2, length: time.Second, latency: 10 * time.Millisecond, failures: .1}.make(3)
	for i := range rows[:20] {
		rows[i].Phases = &oplog.Phases{1, 2, 3, 4, 5, 6}
	}
	p := processes(rows, Options{})[0]
	p.BeginPhase(2)
	_ = p.Write(rows)
	know := []ClientDigest{p.digest(f)}
	windows, err := NewJoint(Options{}).Close(know)
	if err != nil {
		f.Fatal(err)
	}
	b, err := p.Finish(windows)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add(slices.Concat(b, b))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := NewJoint(Options{})
		if _, err := j.Close(know); err != nil {
			t.Fatal(err)
		}
		if j.Add(b) == nil {
			if r, err := j.Report(know); err == nil {
				render(t, r)
			}
		}
	})
}
