package commands

import (
	"testing"

	"warp/cli/benchmarks"
	"warp/pkg/identity"
)

// Every flag of every benchmark is in the identity of workloads, or out of it. A new one needs a row in the table of package
// identity.
func TestEveryFlagIsInTheIdentityOrOut(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, s := range identity.Table() {
		rows[s.Flag] = true
	}
	used := map[string]bool{}
	env := func(string) (string, bool) { return "", false }
	for _, c := range append(Benchmarks(env), benchmarks.Replay(env)) {
		for _, f := range c.Flags() {
			name := f.Names()[0]
			used[name] = true
			if !rows[name] {
				t.Errorf("warp %s --%s has no row in the table of pkg/identity: say whether it defines the load", c.Name, name)
				rows[name] = true // once
			}
		}
	}
	for _, s := range identity.Table() {
		if !used[s.Flag] {
			t.Errorf("the table of pkg/identity has --%s, which no benchmark has", s.Flag)
		}
	}
}
