package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"warp/cli/exit"
	"warp/pkg/results"
)

// An assertion that fails and then passes is flaky in every format, and the run
// has not failed.
func TestConfirmedAssertionIsFlaky(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var downloads atomic.Int64
			store := storeBehind(t, func(w http.ResponseWriter) bool {
				_, err := os.Stat(filepath.Join(dir, "run.csv.zst")) // it gets its name when the first run is over
				bad := err != nil && downloads.Add(1)%5 == 0
				if bad {
					w.WriteHeader(http.StatusForbidden)
				}
				return !bad
			})
			junit, figures := filepath.Join(dir, "junit.xml"), filepath.Join(dir, "figures.json")
			args := []string{"get", "--host=" + store, "--access-key=key", "--secret-key=secret-key", "--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=2s",
				"--max-errors=100%", "--benchdata=" + filepath.Join(dir, "run"), "--assert=errors<=0%", "--assert=GET.errors<100%", "--confirm", "--junit=" + junit, "--bmf=" + figures}
			if format == "json" {
				args = append(args, "--json")
			}
			r := runWarp(t, nil, args...)
			if r.code != exit.OK || !strings.Contains(r.err, "the run is repeated to confirm it") {
				t.Fatalf("exit code %d: %s%s", r.code, r.err, r.out)
			}
			const sentence = "flaky: errors<=0% holds: measured 0%"
			if format == "json" {
				var report results.Report
				if err := json.Unmarshal([]byte(r.out), &report); err != nil {
					t.Fatalf("%v: %s", err, r.out)
				}
				first, second := report.Assertions[0], report.Assertions[1]
				if first.Result != results.Flaky || first.First == nil || first.First.Result != results.Failed || !strings.HasPrefix(first.Sentence, sentence) || second.Result != results.Passed {
					t.Errorf("%+v, %+v", first, second)
				}
			} else if !strings.Contains(r.out, "\n * "+sentence) || !strings.Contains(r.out, "; of the first run: errors<=0% failed: measured ") {
				t.Errorf("%s", r.out)
			}
			xml, err := os.ReadFile(junit)
			if text := string(xml); err != nil || !strings.Contains(text, `failures="0"`) || strings.Count(text, "<flakyFailure") != 1 || !strings.Contains(text, "flaky: errors&lt;=0% holds") {
				t.Errorf("%v: %s", err, xml)
			}
			var bencher map[string]map[string]struct{ Value float64 }
			if text, err := os.ReadFile(figures); err != nil || json.Unmarshal(text, &bencher) != nil || len(bencher["warp get"]) == 0 || bencher["warp get"]["errors (%)"].Value != 0 {
				t.Errorf("%v: %s", err, text)
			}
			for _, log := range []string{"run.csv.zst", "run-confirm.csv.zst"} {
				if _, err := os.Stat(filepath.Join(dir, log)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
