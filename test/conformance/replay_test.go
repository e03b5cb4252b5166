package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/s3mem"
)

// recordedStore returns a proxy in front of an embedded store.
func recordedStore(t *testing.T, faults ...*teststore.Fault) *teststore.Proxy {
	t.Helper()
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = mem.Close() })
	return teststore.NewProxy(t, mem.Addr(), faults...)
}

// objectRequests returns the requests about objects, without markers of runs, which the store got since the last Forget.
func objectRequests(p *teststore.Proxy, method string) []teststore.Seen {
	return p.Requests(func(s *teststore.Seen) bool {
		return s.Method == method && s.Query == "" && strings.Count(s.Path, "/") > 1 && !strings.Contains(s.Path, "/.warp/")
	})
}

func replayReport(t *testing.T, o outcome) *results.Replay {
	t.Helper()
	r := o.report(t).Replay
	if r == nil {
		t.Fatalf("%s: the report has no fidelity:\n%s", o.line, o.out)
	}
	return r
}

// A replay sends what the log has, as the store sees it: as many requests of each method, with the same sizes, in the same time,
// or in half of it. Every answer is checked, so no request may overtake one that changes its object.
func TestReplay(t *testing.T) {
	t.Parallel()
	store := recordedStore(t)
	folder := t.TempDir()
	to := []string{"--host=" + store.Endpoint, "--access-key=k", "--secret-key=s", "--json"}
	warp(slices.Concat([]string{"mixed"}, to, []string{"--obj.size=1KiB-8KiB", "--objects=30", "--concurrent=4", "--rps-limit=150",
		"--arrival=poisson", "--duration=4s", "--benchdata=" + filepath.Join(folder, "original")})...).want(t, 0)
	log := filepath.Join(folder, "original.csv.zst")
	original := readLog(t, log)
	for _, speed := range []float64{1, 2} {
		store.Forget()
		data := filepath.Join(folder, fmt.Sprint("again", speed))
		o := warp(slices.Concat([]string{"replay", log}, to, []string{fmt.Sprint("--speed=", speed), "--verify=content", "--benchdata=" + data})...).want(t, 0)
		o.sameAsAnalyze(t, data+".csv.zst", "--json")
		again := readLog(t, data+".csv.zst")
		r := replayReport(t, o)
		if !sentAll(r, original, original.rows) || r.Run != original.header.Run {
			t.Errorf("speed %g: of %d requests: %+v", speed, len(original.rows), r)
		}
		for op, method := range map[string]string{"GET": http.MethodGet, "STAT": http.MethodHead, "DELETE": http.MethodDelete} {
			rows, seen := original.of(op), objectRequests(store, method)
			if op == "DELETE" { // those of the clean-up are there, too, if they are single ones
				seen = seen[:min(len(seen), len(rows))]
			}
			if op == "STAT" { // so is the one by which the lease makes sure that nobody uses the name
				seen = seen[:min(len(seen), len(rows))+max(0, len(seen)-len(rows)-1)]
			}
			if len(seen) != len(rows) || len(again.of(op)) != len(rows) {
				t.Errorf("speed %g: the store got %d %s requests, and the log has %d, of %d", speed, len(seen), method, len(again.of(op)), len(rows))
			}
		}
		if want, got := sizes(original.of("GET")), sizes(again.of("GET")); !slices.Equal(got, want) {
			t.Errorf("speed %g: the downloads have other sizes", speed)
		}
		uploads := sizes(original.of("PUT"))
		if got := sizes(again.of("PUT")); !slices.Equal(got, uploads) {
			t.Errorf("speed %g: the uploads have other sizes", speed)
		}
		prepared := len(objectRequests(store, http.MethodPut)) - len(uploads)
		if prepared < 1 || prepared > 30 {
			t.Errorf("speed %g: %d objects were uploaded before, of 30", speed, prepared)
		}
		sameTimes(t, original.rows, again.rows, speed)
	}
}

// sentAll reports whether a replay sent all requests of a log. Those that its run had not sent when it ended, because this machine
// was busy, are named.
func sentAll(r *results.Replay, log history, requests []oplog.Record) bool {
	unsent := int64(0)
	for _, n := range r.NotSent {
		unsent += n.Count
	}
	return r.Sent == int64(len(requests)) && unsent == log.trailer.Unsent && r.Requests == r.Sent+unsent
}

// sizes returns the sizes of requests in the order in which they were due.
func sizes(rows []oplog.Record) (all []int64) {
	for _, r := range byDue(rows) {
		all = append(all, r.Bytes)
	}
	return all
}

func byDue(rows []oplog.Record) []oplog.Record {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b oplog.Record) int { return cmp.Compare(a.Counted(), b.Counted()) })
	return rows
}

// sameTimes checks that requests were due when those of the original counted, to the ns.
func sameTimes(t *testing.T, original, again []oplog.Record, speed float64) {
	t.Helper()
	original, again = byDue(original), byDue(slices.DeleteFunc(slices.Clone(again), func(r oplog.Record) bool { return r.Due == 0 }))
	if len(original) != len(again) {
		t.Fatalf("speed %g: %d requests instead of %d", speed, len(again), len(original))
	}
	for i := range again {
		want := float64(original[i].Counted()-original[0].Counted()) / speed
		if got := float64(again[i].Due - again[0].Due); got-want > 1 || want-got > 1 || again[i].Op != original[i].Op || again[i].Lag() < 0 {
			t.Fatalf("speed %g: request %d is a %s and was due after %.0f ns, want a %s after %.0f ns", speed, i, again[i].Op, got, original[i].Op, want)
		}
	}
}

// A store that freezes for 5 s changes no due time: the response times show it, and so does the fidelity.
func TestReplayFreeze(t *testing.T) {
	t.Parallel()
	const size = 1024
	folder := t.TempDir()
	first := nullStore(t, size)
	warp("get", "--host="+first.Addr(), "--access-key=k", "--secret-key=s", "--objects=20", "--obj.size=1KiB", "--concurrent=4",
		"--duration=4s", "--rps-limit=100", "--quiet", "--benchdata="+filepath.Join(folder, "original")).want(t, 0)
	log := filepath.Join(folder, "original.csv.zst")
	null := nullStore(t, size)
	done := make(chan outcome)
	go func() {
		done <- warp("replay", log, "--host="+null.Addr(), "--access-key=k", "--secret-key=s", "--json", "--verify=none", "--benchdata="+filepath.Join(folder, "again"))
	}()
	check.Eventually(t, "the replay to be under way", func() bool { return null.Count("GET") > 20 })
	null.Freeze(5 * time.Second)
	o := (<-done).want(t, 0)
	original := readLog(t, log)
	requests := slices.DeleteFunc(original.of("GET"), func(r oplog.Record) bool { return r.Due == 0 })
	again := readLog(t, filepath.Join(folder, "again.csv.zst"))
	sameTimes(t, requests, again.of("GET"), 1)
	r := replayReport(t, o)
	if !sentAll(r, original, requests) {
		t.Errorf("of %d requests: %+v", len(requests), r)
	}
	if share := r.Share(r.OnTime); share > 0.5 || r.Delay.P99 < 3000 {
		t.Errorf("%.2f were on time, 99 %% were up to %.0f ms late", share, r.Delay.P99)
	}
	op := operation(t, o.report(t), "GET")
	if op.Response.P90 < 3000 || op.Response.Max < 4900 || op.Duration.P50 > 1000 {
		t.Errorf("response time: p90 %g ms, max %g ms; service time: p50 %g ms", op.Response.P90, op.Response.Max, op.Duration.P50)
	}
}

// Requests of one object that were due at almost the same time are sent one after the other if one of them changes it, though the
// store takes longer for uploads than for anything else.
func TestReplayOrder(t *testing.T) {
	t.Parallel()
	const keys = 20
	log := filepath.Join(t.TempDir(), "log.csv.zst")
	f, err := oplog.Create(log, oplog.Header{Warp: "1", Run: "R", Client: "c", Benchmark: "mixed", Start: time.Unix(100, 0)})
	check.OK(t, err)
	steps := []oplog.Record{{Op: "GET", Bytes: 500}, {Op: "PUT", Bytes: 1000}, {Op: "GET", Bytes: 1000}, {Op: "PUT", Bytes: 2000},
		{Op: "GET", Bytes: 700}, {Op: "STAT"}, {Op: "DELETE"}, {Op: "PUT", Bytes: 3000}, {Op: "GET", Bytes: 3000}}
	for key := range keys {
		for i, r := range steps {
			r.Key, r.Objects, r.Run, r.Client, r.Duration = fmt.Sprint("k", key), 1, "R", "c", time.Microsecond
			r.Start = time.Unix(100, 0).UnixNano() + int64(key)*50e6 + int64(i)*1e5
			check.OK(t, f.Write([]oplog.Record{r}))
		}
	}
	if _, err := f.Commit(oplog.Trailer{End: "completed"}); err != nil {
		t.Fatal(err)
	}
	store := recordedStore(t, &teststore.Fault{Match: teststore.OnObject(http.MethodPut), Delay: 20 * time.Millisecond, Every: 1},
		&teststore.Fault{Match: teststore.OnObject(http.MethodDelete), Delay: 10 * time.Millisecond, Every: 1})
	data := filepath.Join(t.TempDir(), "again")
	o := warp("replay", log, "--host="+store.Endpoint, "--access-key=k", "--secret-key=s", "--json", "--verify=content", "--benchdata="+data).want(t, 0)
	if r := replayReport(t, o); r.Sent != int64(keys*len(steps)) || r.OnTime == r.Sent {
		t.Errorf("%+v", r)
	}
	of := map[string][]oplog.Record{}
	for _, r := range byDue(readLog(t, data+".csv.zst").rows) {
		of[r.Key] = append(of[r.Key], r)
	}
	if len(of) != keys {
		t.Fatalf("%d objects, want %d", len(of), keys)
	}
	var changed int64
	for key, rows := range of {
		if len(rows) != len(steps) {
			t.Fatalf("%s has %d requests, want %d", key, len(rows), len(steps))
		}
		for i, r := range rows {
			writes := r.Op == "PUT" || r.Op == "DELETE"
			if r.Op != steps[i].Op || r.Bytes != steps[i].Bytes {
				t.Errorf("%s: request %d is a %s of %d bytes, want a %s of %d", key, i, r.Op, r.Bytes, steps[i].Op, steps[i].Bytes)
			}
			for _, earlier := range rows[:i] {
				if (writes || earlier.Op == "PUT" || earlier.Op == "DELETE") && earlier.End() > r.Start {
					t.Errorf("%s: a %s began before the %s before it had ended", key, r.Op, earlier.Op)
				}
			}
			if writes {
				changed++
			}
		}
	}
	if changed != 4*keys {
		t.Errorf("%d requests changed objects, want %d", changed, 4*keys)
	}
}

// Objects in parts are uploaded and downloaded in the parts of the log.
func TestReplayParts(t *testing.T) {
	t.Parallel()
	store := recordedStore(t)
	folder := t.TempDir()
	to := []string{"--host=" + store.Endpoint, "--access-key=k", "--secret-key=s", "--quiet"}
	for name, args := range map[string][]string{
		"up":   {"multipart-put", "--parts=3", "--part.size=5MiB", "--part.concurrent=2", "--concurrent=2", "--max-objects=4"},
		"down": {"get", "--split.size=256KiB", "--obj.size=1MiB", "--objects=2", "--concurrent=2", "--duration=1s", "--rps-limit=10"},
	} {
		log := filepath.Join(folder, name)
		warp(slices.Concat(args, to, []string{"--benchdata=" + log})...).want(t, 0)
		again := log + "-again"
		warp(slices.Concat([]string{"replay", log + ".csv.zst"}, to, []string{"--benchdata=" + again})...).want(t, 0)
		original, got := readLog(t, log+".csv.zst"), readLog(t, again+".csv.zst")
		for _, op := range []string{"UPLOAD", "PUTPART", "DOWNLOAD", "GETPART"} {
			if len(got.of(op)) != len(original.of(op)) || !slices.Equal(sorted(got.of(op)), sorted(original.of(op))) {
				t.Errorf("%s: %d rows of %s, want %d of the same sizes", name, len(got.of(op)), op, len(original.of(op)))
			}
		}
	}
}

func sorted(rows []oplog.Record) []int64 {
	all := sizes(rows)
	slices.Sort(all)
	return all
}

// What is no op log of warp is refused, and so are clients on other machines.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	log := filepath.Join(folder, "access.log")
	check.OK(t, os.WriteFile(log, []byte("79a59df900b949e5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 - 3E57427F3EXAMPLE REST.GET.OBJECT key \"-\" 200 - 5 5 1 1\n"), 0o600))
	profile := filepath.Join(folder, "p.json")
	warp("workload", log, "-o", profile).want(t, 0)
	for want, args := range map[string][]string{
		"warp mixed --like=PROFILE": {log}, "is a profile, not a log": {profile}, "requests of one object keep their order": {log, "--warp-client=a"}, "the log has the times": {log, "--duration=1s"},
		"--speed": {log, "--speed=0"}, "no such file": {log + "x"},
	} {
		o := warp(append([]string{"replay", "--host=embedded"}, args...)...).want(t, 2)
		if !strings.Contains(o.err, want) {
			t.Errorf("%v: %s does not say %q", args, o.err, want)
		}
	}
}
