package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
)

func TestAggregatedResults(t *testing.T) {
	t.Parallel()
	const results = "../pkg/miniowarp/testdata/aggregated.json"
	text, err := os.ReadFile(results)
	check.OK(t, err)
	dir := t.TempDir()
	merged, other := filepath.Join(dir, "m"), filepath.Join(dir, "other.json")
	check.OK(t, os.WriteFile(other, text, 0o600))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"analyze", results}, exit.OK, "50%: ≈2.00ms"},
		{[]string{"cmp", results, results}, exit.OK, "(≈: averages of percentiles)"},
		{[]string{"merge", "--benchdata=" + merged, results, other}, exit.Failed, "has no single requests"},
		{[]string{"analyze", results, other}, exit.Failed, "has no single requests"},
		{[]string{"analyze", "--analyze.skip=1s", results}, exit.Failed, "--analyze.skip needs"},
		{[]string{"analyze", "--analyze.op=STAT", results}, exit.Failed, "it has no requests"},
	} {
		r := runWarp(t, nil, c.args...)
		if r.code != c.code || !strings.Contains(r.out+r.err, c.want) || r.code != exit.OK && strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q: %+v, want exit %d and %q", c.args, r, c.code, c.want)
		}
	}
	if left, _ := filepath.Glob(merged + "*"); len(left) > 0 {
		t.Errorf("merge left %q", left)
	}
	long := strings.Replace(string(text), `"v": 2`, `"pad": "`+strings.Repeat("x", 500_000)+`", "v": 2`, 1) // more than is read ahead
	var out, errw bytes.Buffer
	a := &app{in: strings.NewReader(long), out: &out, errw: &errw, env: mapEnvironment(nil)}
	if code := a.main(t.Context(), []string{"analyze", "-"}); code != exit.OK || !strings.Contains(out.String(), "≈2.00ms") {
		t.Errorf("from standard input: exit %d\n%s%s", code, &out, &errw)
	}
}
