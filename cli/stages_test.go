package cli

import (
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/cli/files/runlog"
	"warp/internal/check"
	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// The rate follows the stages by the store's own count of requests per second, and each stage is reported by itself.
func TestMeasuredStages(t *testing.T) {
	check.Measured(t, func() error { return measureStages(t) })
}

func measureStages(t *testing.T) error {
	var mu sync.Mutex
	var at []time.Time
	store := storeBehind(t, func(http.ResponseWriter) bool {
		mu.Lock()
		defer mu.Unlock()
		at = append(at, time.Now())
		return true
	})
	log := filepath.Join(t.TempDir(), "stages")
	run := runWarp(t, nil, "get", "--host="+store, "--access-key=key", "--secret-key=secret", "--obj.size=1KiB", "--objects=10", "--concurrent=16",
		"--stages=2s@50, 2s@50..250, 1s@250", "--quiet", "--benchdata="+log)
	if run.code != 0 {
		t.Fatalf("exit code %d: %s", run.code, run.err)
	}
	r, err := runlog.Analyze(t.Context(), log+oplog.Suffix, nil, aggregate.Options{})
	check.OK(t, err)
	requests := map[int]uint64{}
	for _, op := range r.Operations {
		requests[op.Statement] += op.Requests
	}
	if len(r.Statements) != 3 || r.Statements[1] != "50 to 250/s for 2s" || requests[1] != 100 || requests[2] != 300 || requests[3] != 250 {
		return fmt.Errorf("stages %q have %v requests", r.Statements, requests)
	}
	mu.Lock()
	defer mu.Unlock()
	at = at[len(at)-min(len(at), 650):] // without the check of the first upload
	counts := make([]float64, 5)
	for _, moment := range at {
		counts[min(int(moment.Sub(at[0]).Seconds()), len(counts)-1)]++
	}
	for second, want := range []float64{50, 50, 100, 200, 250} {
		if math.Abs(counts[second]-want) > 0.2*want {
			return fmt.Errorf("the store got %v requests in second %d, want %v\n%s", counts[second], second, want, run.out)
		}
	}
	return nil
}

// Requests of a stage that were due and never sent count in its offered rate and its response times, and in the conditions even if
// none of the stage was sent.
func TestUnsentRequestsOfStages(t *testing.T) {
	t.Parallel()
	store := storeBehind(t, func(http.ResponseWriter) bool {
		time.Sleep(25 * time.Millisecond)
		return true
	})
	log := filepath.Join(t.TempDir(), "stages")
	run := runWarp(t, nil, "get", "--host="+store, "--access-key=key", "--secret-key=secret", "--obj.size=1KiB", "--objects=1", "--concurrent=1",
		"--stages=1s@10, 6s@200, 1s@100", "--quiet", "--benchdata="+log)
	if run.code != 0 {
		t.Fatalf("exit code %d: %s", run.code, run.err)
	}
	r, err := runlog.Analyze(t.Context(), log+oplog.Suffix, nil, aggregate.Options{})
	check.OK(t, err)
	// The stages are named by their rates.
	if title := "Stage 2: 200/s for 6s"; !strings.Contains(run.out, title) || strings.Contains(run.out, "tatement") {
		t.Errorf("no %q in\n%s", title, run.out)
	}
	for _, op := range r.Operations {
		g := r.Groups[op.Group]
		if op.Statement == 1 && g.Unsent != 0 {
			t.Errorf("%d requests of the first stage were not sent", g.Unsent)
		}
		if asked := []float64{0, 10, 200}[op.Statement]; math.Abs(g.OfferedPerS-asked) > .01*asked || g.AchievedPerS > asked {
			t.Errorf("stage %d offered %v/s instead of %v/s, achieved %v/s", op.Statement, g.OfferedPerS, asked, g.AchievedPerS)
		}
		if op.Statement == 2 && (g.Unsent+int64(op.Requests) != 1200 || g.OfferedPerS < 2*g.AchievedPerS || op.Response.Unsent != uint64(g.Unsent) || r.Conditions.Unsent != g.Unsent+100) {
			t.Errorf("%d requests, %d unsent, %+v; offered %v/s, achieved %v/s, conditions %+v", op.Requests, g.Unsent, op.Response, g.OfferedPerS, g.AchievedPerS, r.Conditions)
		}
	}
	if len(r.Groups) < 2 {
		t.Errorf("%d groups", len(r.Groups))
	}
}
