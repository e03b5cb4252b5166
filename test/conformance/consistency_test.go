package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/flawed"
	"warp/internal/teststore"
	"warp/pkg/results"
)

// checkConsistency runs warp consistency and returns its verdicts by property. Its exit code must fit them.
func checkConsistency(t *testing.T, args ...string) map[string]results.ConsistencyProperty {
	t.Helper()
	o := warp(append([]string{"consistency", "--json", "--quiet", "--benchdata=" + t.TempDir() + "/run"}, args...)...)
	var report struct {
		Consistency *results.Consistency `json:"consistency"`
	}
	if err := json.Unmarshal([]byte(o.out), &report); err != nil || report.Consistency == nil {
		t.Fatalf("no verdicts: %v: %s", err, o)
	}
	verdicts, want := make(map[string]results.ConsistencyProperty), 0
	for _, p := range report.Consistency.Properties {
		verdicts[p.Property] = p
		switch {
		case p.Verdict == results.ConsistencyViolated:
			want = 4
		case p.Verdict == results.ConsistencyUndecided && want == 0:
			want = 5
		}
	}
	o.want(t, want)
	return verdicts
}

// violated returns the names of the violated properties, sorted.
func violated(verdicts map[string]results.ConsistencyProperty) (names []string) {
	for name, p := range verdicts {
		if p.Verdict == results.ConsistencyViolated {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lengthsFor returns how long to check a flawed store, again and again until something is found. What is not
// broken is checked once.
func lengthsFor(kind flawed.Kind) []string {
	switch {
	case kind.Flaw == flawed.LostWrites: // one in 10,000
		return []string{"8s", "20s", "60s", "120s"}
	case kind.Breaks != nil:
		return []string{"2s", "8s", "30s", "60s"}
	case kind.Flaw == flawed.DelayedWrites || kind.Flaw == flawed.Pauses:
		return []string{"6s"}
	}
	return []string{"2s"}
}

// What a store breaks is found, and what only looks broken is not blamed.
func TestConsistencyOfFlawedStores(t *testing.T) {
	t.Parallel()
	for _, kind := range flawed.Kinds() {
		t.Run(string(kind.Flaw), func(t *testing.T) {
			s, err := flawed.Start(kind.Flaw, 2)
			check.OK(t, err)
			t.Cleanup(s.Close)
			var found []string
			for _, duration := range lengthsFor(kind) {
				got := checkConsistency(t, "--host="+strings.Join(s.Hosts, ","), "--duration="+duration, "--concurrent=8", "--timeout=2s")
				found = violated(got)
				t.Logf("%s: %d writes so far, the flaw showed %d times, violated: %v", duration, s.Writes(), s.Shown(), found)
				if kind.Breaks == nil && len(found) > 0 {
					t.Errorf("violated, but nothing is broken: %+v", got[found[0]])
				}
				if slices.ContainsFunc(found, func(name string) bool { return slices.Contains(kind.Breaks, name) }) {
					return
				}
			}
			switch {
			case kind.Breaks != nil:
				t.Errorf("violated: %v, want one of %v", found, kind.Breaks)
			case s.Shown() == 0 && kind.Flaw != "":
				t.Error("the flaw did not show")
			}
		})
	}
}

// What is known of real stores is found.
func TestConsistencyOfStores(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		teststore.Embedded:  "[]",
		teststore.MinIO:     "[delete]", // If-Match of deletions is ignored
		teststore.Versitygw: "[]",
		teststore.Garage:    "[complete create delete register]",                        // all conditions of writes are ignored
		teststore.FakeGCS:   "[complete create delete list-after-write register whole]", // likewise, and listings end with their first page
		teststore.Azurite:   "[]",
	} {
		t.Run(name, func(t *testing.T) {
			s := teststore.Start(t, name, teststore.Options{})
			args := []string{"--host=http://" + s.Endpoint + s.Path, "--concurrent=8"}
			if s.Provider != "" {
				args = append(args, "--provider="+s.Provider)
			} else {
				args = append(args, "--region="+s.Region, "--access-key="+s.AccessKey, "--secret-key="+s.SecretKey)
			}
			got := "[]"
			for _, duration := range []string{"3s", "10s", "30s"} { // a busy machine sends few requests
				found := violated(checkConsistency(t, append(args, "--duration="+duration)...))
				if name == teststore.Versitygw { // a deletion with If-Match may remove a newer version, which few runs of 3 s show
					found = slices.DeleteFunc(found, func(name string) bool { return name == "delete" })
				}
				if got = fmt.Sprint(found); got == want {
					return
				}
			}
			t.Errorf("violated: %s, want %s", got, want)
		})
	}
}
