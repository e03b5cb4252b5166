package marks

import (
	"testing"
	"time"
)

// TestStartBins: start bins follow each other without a gap.
func TestStartBins(t *testing.T) {
	t.Parallel()
	for i := range 300 {
		from := startBinBoundary(i)
		if startBinIndex(from) != i || i > 0 && startBinIndex(from-1) != i-1 || firstStartBin(from) != i || firstStartBin(from+1) != i+1 {
			t.Errorf("bin %d begins at %v: %d, %d, %d, %d", i, time.Duration(from), startBinIndex(from), startBinIndex(from-1), firstStartBin(from), firstStartBin(from+1))
		}
	}
	s := period{from: 1000}
	for i := range maxIntervals {
		if at := s.intervalBoundary(i); s.intervalIndex(at) != i || i > 0 && s.intervalIndex(at-1) != i-1 {
			t.Fatalf("interval %d begins at %v", i, time.Duration(at))
		}
	}
}
