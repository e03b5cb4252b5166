package bench

import (
	"strings"
	"testing"
)

// Hashing is spoken of where it is much of what a run took.
func TestHashingNote(t *testing.T) {
	t.Parallel()
	const hashed = 10 << 30
	cost := hashed * hashingCost()
	for _, test := range []struct {
		hashed int64
		cpu    float64
		noted  bool
	}{
		{0, 1, false}, {1 << 20, cost / 1e6, false}, {hashed, 0, false},
		{hashed, cost, true}, {hashed, 2 * cost, true}, {hashed, 20 * cost, false},
	} {
		note := hashingNote(test.hashed, test.cpu)
		if (note != "") != test.noted || test.noted && !strings.Contains(note, "--disable-sha256-payload") {
			t.Errorf("%d bytes in %.2f s: %q", test.hashed, test.cpu, note)
		}
	}
}
