package merge

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"warp/internal/check"
	"warp/pkg/oplog"
)

// writeLogs writes files and returns their names.
func writeLogs(t testing.TB, logs ...[]byte) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, log := range logs {
		names = append(names, filepath.Join(dir, fmt.Sprintf("in%d.csv.zst", i)))
		check.OK(t, os.WriteFile(names[i], log, 0o600))
	}
	return names
}

// inTurns returns rows of that many threads, which overlap, in the order of their ends.
func inTurns(n, threads int, client string) []oplog.Record {
	all := make([]oplog.Record, n)
	for i := range all {
		all[i] = oplog.Record{Op: "GET", Run: "r", Client: client, Endpoint: "http://127.0.0.1:9000", Key: fmt.Sprint("k", i%100), Thread: uint32(i % threads),
			Objects: 1, Bytes: 1, Start: 1e18 + int64(i*1000/threads*threads), Duration: 900, Status: 200}
	}
	return all
}
