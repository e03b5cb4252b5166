package cli

import (
	"math"
	"testing"

	"warp/pkg/sink"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4KB": 4000, "4K": 4000, "4KiB": 4096, "4kib": 4096, "10MiB": 10 << 20, "1MB": 1e6, "1M": 1e6,
		"1.5GiB": 3 << 29, "2TB": 2e12, "2T": 2e12, "1TiB": 1 << 40, "12B": 12, "7 KiB": 7168, "1G": 1e9,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "4X", "1e3", "0x10", "NaN", "Inf", "1..2", "9223372036854775808", "8388608TiB", "4 5", "+4KiB."} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"4KiB", "10MB", "1.5G", "0", "-3", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseSize(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("parseSize(%q) = %d", s, n)
		}
		if again, err := parseSize(formatSize(n)); err != nil || again != n {
			t.Fatalf("%q is %d, written %q and read as %d, %v", s, n, formatSize(n), again, err)
		}
	})
}

// Whoever quotes a list may put spaces into it, whatever the list is of.
func TestListsWithSpaces(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		"host": "a:1, b:2", "bucket": " abc , abd", "serverprof": "cpu, mem ,block", "source-ip": "127.0.0.1, 127.0.0.1",
		"warp-client": "c1, c2:7 ",
	}
	for _, name := range listFlags() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := runWarp(t, nil, "get", "--dry-run", "--"+name, lists[name]); r.code != 0 || lists[name] == "" {
				t.Errorf("%q: code %d, %s", lists[name], r.code, r.err)
			}
		})
	}
	for _, sizes := range [][]string{{"--obj.size=1KiB:3 , 2KiB: 4"}, {"--obj.size=1KiB , 2KiB", "--obj.randsize"}} {
		if r := runWarp(t, nil, append([]string{"get", "--dry-run"}, sizes...)...); r.code != 0 {
			t.Errorf("%q: code %d, %s", sizes, r.code, r.err)
		}
	}
}

// A run that fails before its end lets go of what its figures go to.
func TestExportsOfFailedRun(t *testing.T) {
	t.Parallel()
	e := &openExport{}
	all := exports{Exports: &sink.Exports{All: []sink.Export{e}}}
	all.end(t.Context(), nil)
	all.end(t.Context(), nil)
	if e.closed != 1 {
		t.Errorf("closed %d times", e.closed)
	}
}

type openExport struct {
	sink.Export
	closed int
}

func (e *openExport) Close() (lost string) {
	e.closed++
	return ""
}
