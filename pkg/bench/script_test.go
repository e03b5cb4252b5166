package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A rows sink keeps every record.
type rows struct{ all []oplog.Record }

func (r *rows) Write(batch []oplog.Record) error { r.all = append(r.all, batch...); return nil }
func (r *rows) Flush() error                     { return nil }

// of counts the records of a statement, and fails where one is not of op.
func (r *rows) of(t *testing.T, op string, s oplog.Statement) (n int, keys map[string]int) {
	t.Helper()
	keys = make(map[string]int)
	for i := range r.all {
		if rec := &r.all[i]; rec.Statement == s {
			n++
			keys[rec.Key]++
			if rec.Op != op || rec.Err != "" {
				t.Errorf("statement %s: %s %s: %s", s, rec.Op, rec.Key, rec.Err)
			}
		}
	}
	return n, keys
}

func scriptClient(t *testing.T) *store.Client { return clientOf(t, embeddedStore(t)) }

func runScript(ctx context.Context, t *testing.T, c *store.Client, steps ...ScriptStep) (*rows, *Outcome) {
	t.Helper()
	check.OK(t, CheckScript(steps))
	s := &Script{Client: c, Steps: steps, Options: Options{Bucket: "scripts", RunID: "r", ClientID: "c", Seed: 1, Drain: time.Minute}}
	check.OK(t, s.Open(ctx))
	got := &rows{}
	return got, s.Run(ctx, got)
}

// A combination is a statement after one that has put 20 objects, and what comes of it.
type combination struct {
	step     ScriptStep
	requests int // -1 = more than there are keys
	keys     int
	left     int // objects
}

// Every combination of a number of objects and a time, and what is left after it.
func TestScriptCombinations(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	tests := map[string]combination{
		"PUT n":         {ScriptStep{Op: "PUT", Objects: 7, Max: 2, Seed: "other", Size: 10}, 7, 7, 27},
		"PUT n runtime": {ScriptStep{Op: "PUT", Objects: 4, Runtime: short, Max: 2, Seed: "other", Size: 10}, -1, 4, 24},
		"GET n":         {ScriptStep{Op: "GET", Objects: 5}, 5, 5, 20},
		"GET more":      {ScriptStep{Op: "GET", Objects: 50, Random: true}, 50, 20, 20},
		"GET n runtime": {ScriptStep{Op: "GET", Objects: 5, Runtime: short, Max: 4}, -1, 5, 20},
		"GET runtime":   {ScriptStep{Op: "GET", Runtime: short, Max: 4}, -1, 20, 20},
		"GET rate":      {ScriptStep{Op: "GET", Objects: 30, Rate: 300}, 30, 20, 20},
		"DELETE":        {ScriptStep{Op: "DELETE"}, 20, 20, 0},
		"DELETE n":      {ScriptStep{Op: "DELETE", Objects: 6}, 6, 6, 14},
		"DELETE more":   {ScriptStep{Op: "DELETE", Objects: 60}, 20, 20, 0},
		"DELETE n time": {ScriptStep{Op: "DELETE", Objects: 2, Runtime: time.Hour}, 2, 2, 18},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.run(t)
			for test.requests < 0 && got.requests < 20*test.keys && test.step.Runtime < time.Minute {
				test.step.Runtime *= 4 // on a slow machine it takes longer until objects have had their turn, in whatever order
				got = test.run(t)
			}
			if test.requests < 0 && got.requests > got.keys {
				got.requests = -1
			}
			if got.step = test.step; got != test {
				t.Errorf("got %+v, want %+v", got, test)
			}
		})
	}
	t.Run("DELETE time", func(t *testing.T) { // how many are due, a slow machine decides
		t.Parallel()
		got := combination{step: ScriptStep{Op: "DELETE", Runtime: time.Second, Rate: 10}}.run(t)
		if got.requests < 1 || got.requests > 10 || got.left != 20-got.requests {
			t.Errorf("%d requests in a second at 10/s, which left %d objects of 20", got.requests, got.left)
		}
	})
}

// run tells what does come of a statement.
func (x combination) run(t *testing.T) (got combination) {
	t.Helper()
	c := scriptClient(t)
	put := ScriptStep{Op: "PUT", Objects: 20, Max: 3, Seed: "seed", Size: 100}
	rows, out := runScript(t.Context(), t, c, put, x.step)
	if out.Fatal != nil || out.Failed > 0 || out.Sent != int64(len(rows.all)) {
		t.Fatalf("%+v, %d records", out, len(rows.all))
	}
	if n, _ := rows.of(t, "PUT", statementOf(1, false)); n != 20 {
		t.Errorf("%d uploads, want 20", n)
	}
	n, keys := rows.of(t, x.step.Op, statementOf(2, false))
	got.requests, got.keys = n, len(keys)
	err := c.List(t.Context(), store.List{Bucket: "scripts", Prefix: scriptPrefix}, func() { got.left = 0 }, func(store.Object) bool { got.left++; return true })
	check.OK(t, err)
	return got
}

// A later script knows the objects by strategy and seed, and another seed finds nothing.
func TestScriptReuse(t *testing.T) {
	t.Parallel()
	for _, random := range []bool{false, true} {
		c := scriptClient(t)
		runScript(context.Background(), t, c, ScriptStep{Op: "PUT", Objects: 8, Seed: "a", Random: random, Size: 10})
		get := ScriptStep{Op: "GET", Objects: 8}
		if _, out := runScript(context.Background(), t, c, ScriptStep{Objects: 8, Seed: "a", Random: random}, get); out.Sent != 8 || out.Failed > 0 {
			t.Errorf("random %v: %+v", random, out)
		}
		for _, wrong := range []ScriptStep{{Objects: 8, Seed: "b", Random: random}, {Objects: 8, Seed: "a", Random: !random}} {
			if _, out := runScript(context.Background(), t, c, wrong, get); out.Failed != 8 {
				t.Errorf("random %v: %+v", random, out)
			}
		}
	}
}

// The requests of a warm-up are marked as such, and no statement takes over what was due in another.
func TestScriptWarmup(t *testing.T) {
	t.Parallel()
	got, out := runScript(context.Background(), t, scriptClient(t),
		ScriptStep{Op: "PUT", Objects: 3, Seed: "a", Size: 10},
		ScriptStep{Op: "GET", Objects: 60, Rate: 100, Warmup: 400 * time.Millisecond},
		ScriptStep{Op: "DELETE"})
	warm, _ := got.of(t, "GET", statementOf(2, true))
	rest, _ := got.of(t, "GET", statementOf(2, false))
	if warm != 20 || rest != 40 || out.Fatal != nil {
		t.Errorf("%d requests in the warm-up, want 20; %d after it, want 40 (%v)", warm, rest, out.Fatal)
	}
	for i := range got.all {
		if r := &got.all[i]; (r.Due != 0) != (r.Op == "GET") {
			t.Errorf("%s is due at %d", r.Op, r.Due)
		}
	}
}

// A RUNTIME begins where the WARMUP ends.
func TestScriptWarmupBesideRuntime(t *testing.T) {
	t.Parallel()
	got, out := runScript(context.Background(), t, scriptClient(t),
		ScriptStep{Op: "PUT", Objects: 3, Seed: "a", Size: 10},
		ScriptStep{Op: "GET", Rate: 100, Warmup: 600 * time.Millisecond, Runtime: 300 * time.Millisecond})
	warm, _ := got.of(t, "GET", statementOf(2, true))
	rest, _ := got.of(t, "GET", statementOf(2, false))
	if sent := int64(warm+rest) + missed(out); sent != 60 || warm > 30 || rest > 30 || out.Fatal != nil {
		t.Errorf("%d requests in the warm-up and %d after it, %d missed, want 60 in all (%v)", warm, rest, missed(out), out.Fatal)
	}
}

// missed is how many requests a busy machine has left out, by the notes.
func missed(out *Outcome) (n int64) {
	for _, note := range out.Trailer.Notes {
		var statement, requests int64
		if _, err := fmt.Sscanf(note, "statement %d: %d request", &statement, &requests); err == nil {
			n += requests
		}
	}
	return n
}

func TestScriptInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	var puts atomic.Int64
	c := interceptedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		backend.ServeHTTP(w, r)
		if r.Method == http.MethodPut && puts.Add(1) == 50 {
			cancel(ErrInterrupted)
		}
	})
	got, out := runScript(ctx, t, c, ScriptStep{Op: "PUT", Runtime: time.Hour, Max: 2, Seed: "a", Size: 10}, ScriptStep{Op: "DELETE"})
	if !errors.Is(out.Fatal, ErrInterrupted) || out.Trailer.End != "interrupted" || int64(len(got.all)) != out.Sent {
		t.Errorf("%+v", out)
	}
	if n, _ := got.of(t, "DELETE", statementOf(2, false)); n > 0 {
		t.Errorf("%d objects were deleted", n)
	}
}

func TestCheckScript(t *testing.T) {
	t.Parallel()
	put, get, del := ScriptStep{Op: "PUT", Objects: 1}, ScriptStep{Op: "GET", Objects: 1}, ScriptStep{Op: "DELETE"}
	other := get
	other.Context = "x"
	for want, steps := range map[string][]ScriptStep{
		"":                                 {put, get, del, del, {Objects: 1}, get},
		"no statement before it puts":      {get},
		`in context "x"`:                   {put, other},
		"leaves nothing in context":        {put, del, get},
		"MAX 70000 CONCURRENT":             {{Op: "PUT", Objects: 1, Max: 70000}},
		"at most 65535 statements":         slices.Repeat([]ScriptStep{put}, 1<<16),
		"all 5 requests fall into the WAR": {{Op: "PUT", Objects: 5, Rate: 10, Warmup: time.Second}},
	} {
		if got := fmt.Sprint(CheckScript(steps)); !strings.Contains(got, want) || want == "" && got != "<nil>" {
			t.Errorf("%s, want %q", got, want)
		}
	}
}

// A gate is a proxy of a store that holds each download until it may pass.
type gate struct {
	pass chan struct{} // closed = all may

	mu       sync.Mutex
	now, max int // downloads that are held
}

func (g *gate) hold() {
	g.mu.Lock()
	g.now++
	g.max = max(g.max, g.now)
	g.mu.Unlock()
	<-g.pass
	g.mu.Lock()
	g.now--
	g.mu.Unlock()
}

// held waits until n downloads are held.
func (g *gate) held(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		g.mu.Lock()
		now := g.now
		g.mu.Unlock()
		if now >= n {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%d downloads are held, want %d", now, n)
			return
		}
	}
}

func gatedClient(t *testing.T) (*store.Client, *gate) {
	t.Helper()
	g := &gate{pass: make(chan struct{})}
	return interceptedClient(t, func(backend http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" && strings.Contains(r.URL.Path, scriptPrefix) {
			g.hold()
		}
		backend.ServeHTTP(w, r)
	}), g
}

// With a rate and MAX both apply: a slow store gets no more than MAX at a time, a fast one no more than the rate.
func TestScriptRateAndMax(t *testing.T) {
	t.Parallel()
	put := ScriptStep{Op: "PUT", Objects: 5, Seed: "a", Size: 10}
	c, g := gatedClient(t)
	go func() {
		g.held(t, 3)
		time.Sleep(100 * time.Millisecond) // 200 more are due
		close(g.pass)
	}()
	got, out := runScript(context.Background(), t, c, put, ScriptStep{Op: "GET", Objects: 400, Rate: 2000, Max: 3})
	if n, _ := got.of(t, "GET", statementOf(2, false)); n != 400 || g.max != 3 || out.Failed > 0 {
		t.Errorf("%d downloads, at most %d at a time, %d failed; want 400, 3 and 0", n, g.max, out.Failed)
	}
	got, _ = runScript(context.Background(), t, scriptClient(t), put, ScriptStep{Op: "GET", Objects: 11, Rate: 50, Max: 8})
	last := int64(0)
	for i := range got.all {
		if r := &got.all[i]; r.Op == "GET" {
			last = max(last, r.Start)
			if r.Start < r.Due {
				t.Errorf("a download began %d ns before it was due", r.Due-r.Start)
			}
		}
	}
	if last < dueOf(got.all, "GET")+int64(200*time.Millisecond) {
		t.Errorf("the last of 11 downloads at 50 a second began %s after the first was due", time.Duration(last-dueOf(got.all, "GET")))
	}
}

// dueOf is when the first request was due.
func dueOf(rows []oplog.Record, op string) int64 {
	due := int64(math.MaxInt64)
	for i := range rows {
		if rows[i].Op == op {
			due = min(due, rows[i].Due)
		}
	}
	return due
}

// Without MAX there are as many requests at a time as the rate needs, up to a bound that the log tells of.
func TestScriptGrows(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int]int{0: 60, 20: 20} {
		c, g := gatedClient(t)
		steps := []ScriptStep{{Op: "PUT", Objects: 5, Seed: "a", Size: 10}, {Op: "GET", Objects: 60, Rate: 2000}}
		s := &Script{Client: c, Steps: steps, Options: Options{Bucket: "scripts", RunID: "r", ClientID: "c", Seed: 1, Drain: time.Minute}, paced: bound}
		check.OK(t, s.Open(context.Background()))
		go func() {
			g.held(t, want)
			time.Sleep(100 * time.Millisecond) // as much as all of them take to be due
			close(g.pass)
		}()
		got := &rows{}
		out := s.Run(context.Background(), got)
		if n, _ := got.of(t, "GET", statementOf(2, false)); n != 60 || g.max != want {
			t.Errorf("bound %d: %d downloads, at most %d at a time, want 60 and %d", bound, n, g.max, want)
		}
		told := strings.Contains(strings.Join(out.Trailer.Notes, "\n"), "its rate needs more than 20 requests at a time")
		if told != (bound > 0) {
			t.Errorf("bound %d: the log notes %q", bound, out.Trailer.Notes)
		}
	}
}

// A request counts in each interval that it is in, also where none begins in that.
func TestPeak(t *testing.T) {
	t.Parallel()
	var p Peak
	takes := func(warming bool, warmup, rest int) {
		t.Helper()
		if w, r := p.Reset(warming); w != warmup || r != rest {
			t.Errorf("%d and %d, want %d and %d", w, r, warmup, rest)
		}
	}
	p.begin(true)
	takes(true, 1, 0)
	takes(true, 1, 0)
	takes(false, 1, 0)
	p.end()
	takes(false, 0, 1)
	takes(false, 0, 0)
	for range 3 {
		p.begin(false)
	}
	takes(false, 0, 3)
	takes(false, 0, 3)
	p.end()
	takes(false, 0, 3)
	takes(false, 0, 2)
}
