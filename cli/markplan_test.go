package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/check"
)

// TestMarkPlan runs a file with planned marks: one whose command works, one whose
// command fails, and one whose command would outlive the run.
func TestMarkPlan(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands need a Unix shell")
	}
	dir := t.TempDir()
	file, log := filepath.Join(dir, "plan.yml"), filepath.Join(dir, "run")
	left := filepath.Join(dir, "left")
	if err := os.WriteFile(file, []byte(`warp:
  api: v1
  benchmark: put
  params:
    host: embedded
    obj: {size: 1KiB}
    concurrent: 2
    rps-limit: 100
    max-errors: 0
    duration: 4s
    marks:
      - {at: 500ms, text: works, exec: echo done; echo "to stderr" >&2}
      - {at: 1s, text: fails, exec: echo no such disk; exit 3}
      - at: 1500ms
        text: hangs
        exec: |
          (sleep 60; touch `+left+`) &
          sleep 60
      - {at: 2s, text: no command}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r := runWarp(t, runtimeFolder(t), "run", file, "--benchdata="+log, "--json", "--assert=recovery<1m")
	if time.Since(began) > 45*time.Second {
		t.Errorf("the run took %v: it waited for a command", time.Since(began))
	}
	// The marks are too close to the end for a recovery.
	if r.code != exit.Undecided {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	var texts []string
	for _, m := range marksOf(t, r.out) {
		texts = append(texts, m.Text)
	}
	slices.Sort(texts) // on a busy machine one may overtake another
	if want := []string{"fails", "hangs", "no command", "works"}; !slices.Equal(texts, want) {
		t.Errorf("marks %q, want %q", texts, want)
	}
	for _, want := range []string{`works: done`, `works: to stderr`, `works: the command ended after `, `fails: no such disk`} {
		if !strings.Contains(r.err, want) {
			t.Errorf("no %q on standard error: %s", want, r.err)
		}
	}
	for _, want := range []string{`the command of the mark \"fails\" failed after `, ` with exit code 3: no such disk`, `the command of the mark \"hangs\" was ended after `} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no warning %q in the report: %s", want, r.err)
		}
	}
	if again := runWarp(t, nil, "analyze", "--json", log+".csv.zst"); !strings.Contains(again.out, `\"fails\" failed after `) {
		t.Error("the log does not have the warning")
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("a process of the command has outlived the run")
	}
}

func TestMarkPlanErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ mark, want string }{
		{`{"at":"10s","text":"late"}`, `"late" at 10s comes after the end of the run, which is at --duration=5s`},
		{`{"at":"x","text":"bad"}`, `at is "x"`},
	} {
		r := runWarp(t, nil, "put", "--host=embedded", "--duration=5s", "--marks="+test.mark)
		if r.code != exit.Usage || !strings.Contains(r.err, test.want) {
			t.Errorf("%s: exit code %d, %s", test.mark, r.code, r.err)
		}
	}
	dir := t.TempDir()
	for text, want := range map[string]string{
		"marks: [{at: 1s, txt: x}]":          `did you mean text?`,
		"marks: [{at: 1s}]":                  "has a mark without text",
		"marks: [[1]]":                       "has an entry that is a list",
		"marks: {at: 1s, text: x}":           "has keys below it",
		"marks: [{at: 9m, text: x}]":         "plan.yml:4",
		"marks: [{at: 1s, text: [x]}]":       "warp.marks.text is a list",
		"marks: [{at: 1s, text: a, at: 2s}]": "occurs twice",
	} {
		file := filepath.Join(dir, "plan.yml")
		check.OK(t, os.WriteFile(file, []byte("warp:\n  api: v1\n  benchmark: put\n  "+text+"\n  host: embedded\n  duration: 1m\n"), 0o600))
		if r := runWarp(t, nil, "run", file); r.code != exit.Usage || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, %s", text, r.code, r.err)
		}
	}
}
