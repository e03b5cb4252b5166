package cli

import (
	"testing"

	"warp/cli/commands/suite"
)

// Whoever quotes a list may put spaces into it, whatever the list is of.
func TestListsWithSpaces(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		"host": "a:1, b:2", "bucket": " abc , abd", "serverprof": "cpu, mem ,block", "source-ip": "127.0.0.1, 127.0.0.1",
		"warp-client": "c1, c2:7 ",
	}
	for _, name := range suite.ListFlags() {
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
