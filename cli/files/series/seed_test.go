package series

import "testing"

// Each run has random numbers of its own, so that Poisson arrivals do not repeat one pattern at each load; the same --seed has
// the same ones again. An attempt that was killed counts.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seeds := func(seed uint64) (all []string) {
		m := &Folder{Manifest: Manifest{Seed: seed}}
		for i := range 100 {
			all = append(all, m.NextSeed().Arg())
			if i%3 == 0 {
				m.Add("")
			}
			m.Runs[len(m.Runs)-1].Attempts++
		}
		return all
	}
	first, again := seeds(7), seeds(7)
	seen := map[string]bool{}
	for i, s := range first {
		if seen[s] || s != again[i] {
			t.Fatalf("run %d: %s and %s", i, s, again[i])
		}
		seen[s] = true
	}
}
