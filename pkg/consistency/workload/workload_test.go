package workload_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/flawed"
	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/consistency/workload"
	"warp/pkg/generator"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

// A recorder is a sink that keeps what is judged.
type recorder struct {
	consistency.Collector
	unchecked int // rows that check nothing
}

func (r *recorder) Write(rows []oplog.Record) error {
	for i := range rows {
		if rows[i].Check == nil {
			r.unchecked++
		}
	}
	r.Add(rows)
	return nil
}

func (*recorder) Flush() error { return nil }

// run checks a store for a while.
func run(t *testing.T, f flawed.Flaw, length time.Duration, properties ...string) map[string]results.ConsistencyProperty {
	t.Helper()
	s, err := flawed.Start(f, 1)
	check.OK(t, err)
	t.Cleanup(s.Close)
	client, err := engines.New(store.Config{Hosts: store.Addresses(s.Hosts), Region: "us-east-1",
		Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Concurrency: 8, Options: store.Options{NoRepeat: true}})
	check.OK(t, err)
	t.Cleanup(client.Close)
	o := bench.Options{
		Benchmark: "consistency", RunID: "run", ClientID: "client", Bucket: "bucket", Seed: 1, Concurrency: 8, Duration: length,
		Lease: time.Minute, Checks: &oplog.Checks{Properties: properties},
	}
	o.Promise(client.Contract())
	runner := &bench.Runner{Client: client, Options: o, Op: &workload.Workload{Properties: properties, WholeBlocks: workload.DefaultWholeBlocks}}
	runner.Options.Payload = generator.PayloadOptions{Seed: 1}
	log := &recorder{}
	err = runner.Open(context.Background())
	if err == nil {
		out := runner.Run(context.Background(), log)
		check.OK(t, out.Fatal)
		if log.unchecked > 0 {
			t.Errorf("%d requests check nothing", log.unchecked)
		}
		if f == "" && out.Failed > 0 {
			t.Errorf("%d of %d requests failed, although the store is correct", out.Failed, out.Sent)
		}
		t.Cleanup(func() { check.OK(t, runner.Cleanup(context.Background())) })
		verdicts := make(map[string]results.ConsistencyProperty)
		for _, p := range consistency.Judge(log.Log(o.Header("lean", time.Now()), out.Trailer, nil)).Properties {
			verdicts[p.Property] = p
		}
		return verdicts
	}
	t.Fatal(err)
	return nil
}

// Each property is checked, and a store that keeps all of them is not blamed.
func TestCorrectStore(t *testing.T) {
	t.Parallel()
	raced := func(p results.ConsistencyProperty) bool {
		return p.Won > 0 && (p.Lost > 0 || p.Property == consistency.DeleteIf)
	}
	few := func(p results.ConsistencyProperty) bool {
		return p.Checks < 10 || consistency.NeedsCondition(p.Property) && !raced(p)
	}
	verdicts := run(t, "", 2*time.Second, consistency.Properties()...)
	for length := 8 * time.Second; length <= 32*time.Second && slices.ContainsFunc(slices.Collect(maps.Values(verdicts)), few); length *= 2 {
		verdicts = run(t, "", length, consistency.Properties()...) // a busy machine takes longer
	}
	for name, p := range verdicts {
		if p.Verdict != results.ConsistencyHeld || p.Checks < 10 {
			t.Errorf("%s: %s (%s) after %d checks", name, p.Verdict, p.Reason, p.Checks)
		}
		if consistency.NeedsCondition(name) && !raced(p) {
			t.Errorf("%s: %d won and %d lost, so nobody raced", name, p.Won, p.Lost)
		}
	}
}

// A store that ignores conditions is found before the load, which then leaves out the race.
func TestIgnoredConditions(t *testing.T) {
	t.Parallel()
	for name, p := range run(t, flawed.IgnoredConditions, time.Second, consistency.Create, consistency.Register, consistency.DeleteIf, consistency.CompleteIf, consistency.Whole) {
		want := results.ConsistencyViolated
		if name == consistency.Whole {
			want = results.ConsistencyHeld
		}
		if p.Verdict != want {
			t.Errorf("%s: %s (%s)", name, p.Verdict, p.Reason)
		}
		if p.Won+p.Lost > 0 {
			t.Errorf("%s: %d requests raced all the same", name, p.Won+p.Lost)
		}
	}
}

func TestUnsupportedConditions(t *testing.T) {
	t.Parallel()
	for name, p := range run(t, flawed.UnknownRequests, time.Second, consistency.Create, consistency.DeleteIf) {
		if p.Verdict != results.ConsistencyNotSupported || p.Reason == "" {
			t.Errorf("%s: %s (%s)", name, p.Verdict, p.Reason)
		}
	}
}
