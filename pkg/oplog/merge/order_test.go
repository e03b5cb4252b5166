package merge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// oddLogs returns a few small logs. Many have requests in common, and few identify their client.
func oddLogs(t testing.TB, rng *rand.Rand) [][]byte {
	pool := make([]oplog.Record, 4+rng.IntN(8))
	for i := range pool {
		pool[i] = oplog.Record{Op: []string{"GET", "PUT"}[rng.IntN(2)], Thread: uint32(rng.IntN(3)), Key: fmt.Sprint(rng.IntN(2)),
			Start: 1e18 + rng.Int64N(12), Duration: 1 + 4*1<<rng.IntN(2), Objects: 1}
	}
	clients := []string{"", "", "", "A"}
	var logs [][]byte
	for range 2 + rng.IntN(3) {
		client := clients[rng.IntN(len(clients))]
		var rows []oplog.Record
		for _, r := range pool {
			if r.Client = client; rng.IntN(2) == 0 {
				rows = append(rows, r)
			}
		}
		log := testlog.Encode(t, oplog.Header{Warp: "1", Run: "r", Client: client, Benchmark: "get"}, testlog.Trailer(), rows, 5)
		if client == "" || rng.IntN(2) == 0 {
			log = stripComments(testlog.Unzstd(t, log))
		}
		logs = append(logs, log)
	}
	return logs
}

// The order of the inputs makes no difference, whatever they have in common.
func TestMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 3))
		names := writeLogs(t, oddLogs(t, rng)...)
		var want []byte
		for try := range 4 {
			path := filepath.Join(t.TempDir(), fmt.Sprint(try))
			if _, err := Logs(t.Context(), path, names, Options{}); err != nil {
				t.Fatal(seed, err)
			}
			got, err := os.ReadFile(path)
			check.OK(t, err)
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Errorf("seed %d: %v gives another result", seed, names)
				break
			}
			rng.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		}
	}
}
