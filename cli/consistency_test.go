package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/flawed"
	"warp/pkg/results"
)

// Two clients race for the same objects. The merged log is judged, and judged again from the file.
func TestConsistencyOfAFleet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flaw flawed.Flaw
		code int
	}{{"", exit.OK}, {flawed.LateWrites, exit.Assertion}} {
		t.Run(string(test.flaw), func(t *testing.T) {
			t.Parallel()
			s, err := flawed.Start(test.flaw, 2)
			check.OK(t, err)
			t.Cleanup(s.Close)
			log := filepath.Join(t.TempDir(), "run")
			r := runWarp(t, nil, "consistency", "--host="+strings.Join(s.Hosts, ","), "--access-key=a", "--secret-key=bbbbbbbb", "--warp-client="+twoClients(t),
				"--only=create,read-after-write,list-after-write", "--concurrent=4", "--duration=6s", "--json", "--quiet", "--benchdata="+log)
			if r.code != test.code {
				t.Fatalf("exit code %d: %s", r.code, r.err)
			}
			judged := consistencyIn(t, r.out)
			for _, p := range judged.Properties {
				want := results.ConsistencyHeld
				if test.flaw != "" && p.Property == "create" {
					want = results.ConsistencyViolated
				}
				if p.Verdict != want || p.Checks < 10 {
					t.Errorf("%s: %s (%s) after %d checks", p.Property, p.Verdict, p.Reason, p.Checks)
				}
			}
			if judged.ClockErrorMS == 0 {
				t.Error("the clocks of two clients count as exact")
			}
			if p := judged.Properties[0]; test.flaw != "" && !ofTwoClients(&p) {
				t.Error("no object was created by both clients, so they did not race")
			}
			again := runWarp(t, nil, "consistency", "--log="+log+".csv.zst", "--json")
			before, err := json.Marshal(judged)
			check.OK(t, err)
			after, err := json.Marshal(consistencyIn(t, again.out))
			check.OK(t, err)
			if again.code != test.code || string(before) != string(after) {
				t.Errorf("judged again, exit code %d:\n%s\n%s", again.code, before, after)
			}
		})
	}
}

// With --log, flags of a run are refused, and flags of the report are not.
func TestConsistencyOfALogRefusesFlagsOfARun(t *testing.T) {
	t.Parallel()
	log := "--log=" + filepath.Join(t.TempDir(), "none.csv.zst")
	for _, flag := range []string{"--host=127.0.0.1:1", "--duration=1s", "--dry-run", "--timeout=1s", "--stages=1s@5", "--retries=1", "--tls", "--noclear", "--confirm"} {
		name, _, _ := strings.Cut(flag, "=")
		if r := runWarp(t, nil, "consistency", log, flag); r.code != exit.Usage || !strings.Contains(r.err, "--log and "+name+" cannot be combined") {
			t.Errorf("%s: exit code %d: %s", flag, r.code, r.err)
		}
	}
	kept := runWarp(t, nil, "consistency", log, "--only=create", "--skip=delete", "--json", "--quiet", "--analyze.op=GET", "--assert=p99<1s", "--assert-strict")
	if kept.code != exit.Failed || !strings.Contains(kept.err, "cannot open the op log") {
		t.Errorf("exit code %d: %s", kept.code, kept.err)
	}
}

func consistencyIn(t *testing.T, document string) *results.Consistency {
	t.Helper()
	var r results.Report
	check.OK(t, json.Unmarshal([]byte(document), &r))
	if r.Consistency == nil {
		t.Fatalf("there are no verdicts: %.500s", document)
	}
	return r.Consistency
}

// ofTwoClients reports whether a violation has winners of two clients.
func ofTwoClients(p *results.ConsistencyProperty) bool {
	for _, v := range p.Shown {
		clients := map[string]bool{}
		for _, e := range v.History {
			clients[e.Client] = true
		}
		if len(clients) > 1 {
			return true
		}
	}
	return false
}
