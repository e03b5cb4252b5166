package aggregate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"warp/pkg/oplog"
)

// twoPasses is the plain way: a survey of everything, then the summary.
func twoPasses(t testing.TB, rows []oplog.Record, o Options) string {
	t.Helper()
	r, err := analyzeWithin(source(rows), o, limits{})
	if err != nil {
		t.Fatal(err)
	}
	return render(t, r)
}

// within analyses with little in mind and says how often the log was read.
func within(t testing.TB, rows []oplog.Record, o Options, l limits) (report string, passes int) {
	t.Helper()
	src := source(rows)
	r, err := analyzeWithin(func(yield func([]oplog.Record) error) error {
		passes++
		return src(yield)
	}, o, l)
	if err != nil {
		t.Fatal(err)
	}
	return render(t, r), passes
}

func TestOnePassEqualsTwo(t *testing.T) {
	t.Parallel()
	options := []Options{{}, {Verbose: true}, {Skip: 300 * time.Millisecond}, {SegmentDur: 700 * time.Millisecond}, {Op: "get"}, {Host: "host1:9000"}}
	once := make(chan string, 1000)
	t.Run("loads", func(t *testing.T) {
		everyLoad(t, func(t *testing.T, rows []oplog.Record) {
			for i, o := range options {
				if o.SegmentDur > 0 && rows[len(rows)-1].Start-rows[0].Start > int64(time.Hour) {
					o.SegmentDur = time.Hour // less would only take long
				}
				if o.Op != "" && rows[0].Op != "GET" || o.Host != "" && !slices.ContainsFunc(rows, func(r oplog.Record) bool {
					return sameHost(r.Endpoint, o.Host)
				}) {
					continue
				}
				want := twoPasses(t, rows, o)
				sizes := []limits{{20, 100, 1 << 20}, {100, 400, 1 << 20}, {50, 1000, 2000}, {1, 1 << 20, 1 << 20}}
				for k := range 2 { // all sizes in turn, over the options and seeds
					l := sizes[(i+len(rows)+k)%len(sizes)]
					got, passes := within(t, rows, o, l)
					same(t, fmt.Sprintf("%+v %+v", o, l), got, want)
					if passes == 1 {
						once <- t.Name()
					}
				}
			}
		})
	})
	close(once)
	n := map[string]int{}
	for name := range once {
		n[name]++
	}
	for _, name := range []string{"get", "mixed", "open", "long", "day"} {
		if n["TestOnePassEqualsTwo/loads/"+name] == 0 {
			t.Errorf("%s: no single pass was enough", name)
		}
	}
}

// TestOnePassOfAPreparedRun has an upload before the downloads, threads that
// hand over their rows in turns, and more rows than are kept in mind.
func TestOnePassOfAPreparedRun(t *testing.T) {
	t.Parallel()
	prepare := load{ops: []string{"PUT"}, threads: 8, length: time.Second, latency: 4 * time.Millisecond}.make(1)
	run := load{ops: []string{"GET", "STAT"}, threads: 8, length: 20 * time.Second, latency: 5 * time.Millisecond, hosts: 2, failures: .01}.make(2)
	for i := range run {
		run[i].Start += int64(2 * time.Second)
	}
	rows := append(prepare, run...)
	slices.SortStableFunc(rows, func(a, b oplog.Record) int {
		turn := func(r *oplog.Record) int64 { return r.End()/int64(100*time.Millisecond)<<8 | int64(r.Thread) }
		return int(turn(&a) - turn(&b))
	})
	for _, o := range []Options{{}, {Verbose: true}, {SegmentDur: 333 * time.Millisecond, Skip: time.Second}} {
		got, passes := within(t, rows, o, limits{open: 1000, held: 4000, text: 1 << 20})
		same(t, "report", got, twoPasses(t, rows, o))
		if passes != 1 {
			t.Errorf("%d passes", passes)
		}
	}
}

// TestOnePassIsNotFooled turns what was believed into what is wrong later.
func TestOnePassIsNotFooled(t *testing.T) {
	t.Parallel()
	second := int64(time.Second)
	surprises := map[string]func(r *oplog.Record){
		"a late thread":           func(r *oplog.Record) { r.Thread = 99 },
		"a late client":           func(r *oplog.Record) { r.Client = "new" },
		"a late run":              func(r *oplog.Record) { r.Run = "new" },
		"a late operation":        func(r *oplog.Record) { r.Op = "LIST" },
		"a request from before":   func(r *oplog.Record) { r.Start -= 3 * second; r.Duration = 1 },
		"one that ended at once":  func(r *oplog.Record) { r.Start, r.Duration = epoch, 0 },
		"one from another age":    func(r *oplog.Record) { r.Start += 1e9 * 86400 * 365 * 40 },
		"one that never ends":     func(r *oplog.Record) { r.Duration = 1 << 62 },
		"one due much later":      func(r *oplog.Record) { r.Due = r.Start + 100*second },
		"one due at the very end": func(r *oplog.Record) { r.Due, r.Duration = r.Start, 0 },
		"one that is backwards":   func(r *oplog.Record) { r.Duration = -time.Second },
		"a long error":            func(r *oplog.Record) { r.Err = string(make([]byte, 5000)) },
	}
	for name, surprise := range surprises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				rows := load{ops: []string{"GET", "PUT"}, threads: 3, clients: 2, length: 2 * time.Second, latency: 5 * time.Millisecond, zeros: true}.make(seed)
				rng := rand.New(rand.NewPCG(seed, 9))
				for range 1 + rng.IntN(3) {
					surprise(&rows[rng.IntN(len(rows))])
				}
				o := Options{Verbose: seed%2 == 0}
				got, _ := within(t, rows, o, limits{open: 60, held: 300, text: 4096})
				same(t, fmt.Sprint(seed), got, twoPasses(t, rows, o))
			}
		})
	}
}
