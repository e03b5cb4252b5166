package marks

import (
	"testing"
	"time"
)

// TestStartBins: the bins of starts follow each other without a gap.
func TestStartBins(t *testing.T) {
	t.Parallel()
	for i := range 300 {
		from := startBorder(i)
		if startNumber(from) != i || i > 0 && startNumber(from-1) != i-1 || startAfter(from) != i || startAfter(from+1) != i+1 {
			t.Errorf("bin %d begins at %v: %d, %d, %d, %d", i, time.Duration(from), startNumber(from), startNumber(from-1), startAfter(from), startAfter(from+1))
		}
	}
	s := stretch{from: 1000}
	for i := range maxPieces {
		if at := s.border(i); s.number(at) != i || i > 0 && s.number(at-1) != i-1 {
			t.Fatalf("piece %d begins at %v", i, time.Duration(at))
		}
	}
}
