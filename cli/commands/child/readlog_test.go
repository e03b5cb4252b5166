package child

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/aggregate"
	"warp/pkg/oplog/merge"
)

// A run that has lost a client is about another load, so its figures belong to no point of a sweep and no step of a search.
func TestRunThatLostAClient(t *testing.T) {
	t.Parallel()
	rows := testlog.Everything(rand.New(rand.NewPCG(1, 2)), 100, "r", "c")
	for _, note := range []string{"", "client b was lost: " + merge.LostShare("r-2", 1, 2)} {
		trailer := testlog.Trailer()
		trailer.Notes = nil
		if note != "" {
			trailer.Notes = []string{note}
		}
		path := filepath.Join(t.TempDir(), "log.csv.zst")
		check.OK(t, os.WriteFile(path, testlog.Encode(t, testlog.Header(), trailer, rows, 100), 0o644))
		r, err := readLog(t.Context(), path, aggregate.Options{})
		switch {
		case note == "" && (err != nil || r == nil):
			t.Errorf("a complete run: %v", err)
		case note != "" && (err == nil || !strings.Contains(err.Error(), "the share of r-2 is missing")):
			t.Errorf("a run that has lost a client: %v", err)
		}
	}
}
