package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/oplog"
	"warp/pkg/results"
)

// plannedWorkload returns the workload of a command line, from its dry run.
func plannedWorkload(t *testing.T, line string) oplog.Workload {
	t.Helper()
	words := splitWords(line)
	r := runWarp(t, nil, append([]string{words[0], "--dry-run", "--json"}, words[1:]...)...)
	var plan struct{ Workload oplog.Workload }
	if err := json.Unmarshal([]byte(r.out), &plan); r.code != 0 || err != nil {
		t.Fatalf("warp %s: exit code %d, %v: %s%s", line, r.code, err, r.out, r.err)
	}
	return plan.Workload
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"get", "get --host=s3-{1...8}:9000 --access-key=a --secret-key=bbbbbbbb --session-token=x --bucket=other --prefix=p/ --seed=7 --benchdata=x --duration=1h",
			"get --obj.size=10485760 --objects=2500 --concurrent=20 --part.size=16MiB --verify=etag --pick=uniform --engine=minio --signature=IAM",
			"get --concurrent=10 --objects=1250 --client-count=2 --client-id=0 --seed=1",
			"get --host=a --access-key=a --secret-key=bbbbbbbb --warp-client=127.0.0.1:{1...10} --concurrent=2 --objects=250"},
		{"mixed --pctput=25", "mixed --get-distrib=75 --put-distrib=25 --stat-distrib=0 --delete-distrib=0", "mixed --get-distrib=3 --put-distrib=1 --stat-distrib=0 --delete-distrib=0"},
		{"put --obj.size=1KiB-1MiB", "put --min-size=1024 --max-size=1MiB"},
		{"get --range-size=64KiB", "get --range --range-size=65536"},
		{"get --epochs=2", "get --epochs=3 --unique"},
		{"put --rps-limit=10", "put --host=a --access-key=a --secret-key=bbbbbbbb --warp-client=127.0.0.1:{1...10} --concurrent=2 --rps-limit=1"},
		{"copy", "copy --part.size=5GiB"},
		{"put --md5", "put --checksum=MD5"},
		{"put --host=https://a", "put --tls"},
		{"script 'PUT 9 OBJECTS OF SIZE 1 KB; GET RUNTIME 1 MINUTE'", "script --bucket=other 'put 9 objects of size 1000 B ; get runtime 60 seconds'"},
		{"aisloader -s3endpoint=http://a -bucket=bbb -pctput=100 -numworkers=4", "aisloader -s3endpoint=http://c -bucket=ddd -pctput=100 -numworkers=2 -loadernum=2 -loaderid=1"},
	} {
		first := plannedWorkload(t, same[0])
		for _, line := range same[1:] {
			if other := plannedWorkload(t, line); other.ID != first.ID || first.ID == "" {
				t.Errorf("warp %s has the workload %+v, and warp %s has %+v", same[0], first, line, other)
			}
		}
	}
	for _, line := range []string{"put", "get --obj.size=1MiB", "get --verify=none", "get --tls", "get --concurrent=21", "get --rps-limit=7", "get --pick=zipf:1", "get --split.size=8MiB",
		"get --host=a --access-key=a --secret-key=bbbbbbbb --warp-client=127.0.0.1:{1...10}", "get --list-existing"} {
		if plannedWorkload(t, "get").ID == plannedWorkload(t, line).ID {
			t.Errorf("warp %s has the workload of warp get", line)
		}
	}
	if w := plannedWorkload(t, "get --host=a --access-key=a --secret-key=bbbbbbbb --warp-client=dns:clients:7761"); w.ID != "" || !strings.Contains(w.Unknown, "number of clients") {
		t.Errorf("the number of clients is not known, and the workload is %+v", w)
	}
}

// The identity is in the log and in all reports, and the one that the dry run shows.
// The clients of a fleet divide the objects and the requests of a profile among themselves: they are the same load as one client.
func TestLikeIsOneLoadForAllClients(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "p.json")
	log := filepath.Join(t.TempDir(), "log")
	runWarp(t, nil, "mixed", "--host=embedded", "--obj.size=1KiB", "--objects=90", "--rps-limit=100", "--duration=3s", "--delete-distrib=0", "--put-distrib=0", "--quiet", "--benchdata="+log)
	if r := runWarp(t, nil, "workload", log+".csv.zst", "-o", profile); r.code != 0 {
		t.Fatal(r.err)
	}
	args := []string{"mixed", "--dry-run", "--host=a", "--access-key=a", "--secret-key=bbbbbbbb", "--like=" + profile, "--objects=90"}
	one := runWarp(t, nil, append(args, "--concurrent=6")...)
	fleet := runWarp(t, nil, append(args, "--concurrent=2", "--warp-client=127.0.0.1:{1...3}")...)
	byHand := runWarp(t, nil, append(args, "--concurrent=2", "--client-count=3", "--client-id=1", "--seed=1")...)
	makes := func(plan string) (n int) {
		_, after, _ := strings.Cut(plan, "measurement makes ")
		_, _ = fmt.Sscan(after, &n)
		return n
	}
	all := makes(one.out) // 300, unless the machine was too busy to send them
	if all < 30 {
		t.Fatalf("the plan has %d requests:\n%s", all, one.out)
	}
	for plan, want := range map[string][]string{
		one.out:    {"uploads 90 objects", "preparation makes 90 PUT"},
		fleet.out:  {"uploads 90 objects", "divided among the clients", "preparation makes 30 PUT"},
		byHand.out: {"uploads 90 objects", "divided among the clients", "preparation makes 30 PUT"},
	} {
		for _, text := range want {
			if !strings.Contains(plan, text) {
				t.Errorf("the plan does not say %q:\n%s", text, plan)
			}
		}
		// Each of the profile's three seconds is divided: a client has up to 2/3 of a request more or less of it.
		if n := makes(plan); plan != one.out && (3*n < all-3*2 || 3*n > all+3*2) {
			t.Errorf("a third of %d requests is %d:\n%s", all, n, plan)
		}
	}
	id := func(plan string) string {
		_, after, _ := strings.Cut(plan, "has the identity ")
		return strings.SplitN(after, "\n", 2)[0]
	}
	if len(id(one.out)) != 16 || id(fleet.out) != id(one.out) || id(byHand.out) != id(one.out) {
		t.Errorf("the identity is %q, of a fleet %q, of clients by hand %q", id(one.out), id(fleet.out), id(byHand.out))
	}
}

func TestIdentityIsRecorded(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	line := "put --host=embedded --obj.size=1KiB --concurrent=2 --duration=1s"
	want := plannedWorkload(t, line)
	id := func(args ...string) string {
		t.Helper()
		r := runWarp(t, nil, args...)
		var report results.Report
		if err := json.Unmarshal([]byte(r.out), &report); r.code != 0 || err != nil || report.Workload == nil {
			t.Fatalf("%q: exit code %d, %v: %s%s", args, r.code, err, r.out, r.err)
		}
		return report.Workload.ID
	}
	if got := id(append(strings.Fields(line), "--json", "--benchdata="+log)...); got != want.ID {
		t.Errorf("the report has the workload %s, want %s", got, want.ID)
	}
	reader, err := oplog.Open(log + ".csv.zst")
	check.OK(t, err)
	defer reader.Close()
	if w := reader.Header().Workload; w == nil || w.ID != want.ID || w.Settings["obj.size"] != "1024" {
		t.Errorf("the log has the workload %+v, want %+v", w, want)
	}
	if got := id("analyze", "--json", log+".csv.zst"); got != want.ID {
		t.Errorf("warp analyze reports the workload %s, want %s", got, want.ID)
	}
}
