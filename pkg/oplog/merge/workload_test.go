package merge

import (
	"testing"
	"time"

	"warp/internal/testlog"
	"warp/pkg/oplog"
)

// The clients of one run name the workload of all of them, which the merged log keeps. Of several runs nobody knows whether they were
// at the same time, unless they say how many they are.
func TestMergeWorkloads(t *testing.T) {
	t.Parallel()
	log := func(run, client, workload string, parameters map[string]string) []byte {
		h := oplog.Header{Run: run, Client: client, Benchmark: "put", Parameters: parameters}
		if workload != "" {
			h.Workload = &oplog.Workload{ID: workload}
		}
		start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).UnixNano()
		row := oplog.Record{Op: "PUT", Key: "k" + client + run, Start: start, Duration: 1000, Objects: 1, Client: client}
		return testlog.Encode(t, h, oplog.Trailer{}, []oplog.Record{row}, 1)
	}
	byHand := map[string]string{"client-count": "2"}
	for name, test := range map[string]struct {
		logs [2][]byte
		want string
	}{
		"two clients of a run":                {[2][]byte{log("r", "1", "0123456789abcdef", nil), log("r", "2", "0123456789abcdef", nil)}, "0123456789abcdef"},
		"two runs":                            {[2][]byte{log("r", "1", "0123456789abcdef", nil), log("s", "2", "0123456789abcdef", nil)}, ""},
		"two clients that were started alone": {[2][]byte{log("r", "1", "0123456789abcdef", byHand), log("s", "2", "0123456789abcdef", byHand)}, "0123456789abcdef"},
		"different workloads":                 {[2][]byte{log("r", "1", "0123456789abcdef", nil), log("r", "2", "fedcba9876543210", nil)}, ""},
		"one is older":                        {[2][]byte{log("r", "1", "0123456789abcdef", nil), log("r", "2", "", nil)}, ""},
	} {
		got := ""
		if w := mergeLogs(t, test.logs[0], test.logs[1]).head.Workload; w != nil {
			got = w.ID
		}
		if got != test.want {
			t.Errorf("%s: the merged log has the workload %q, want %q", name, got, test.want)
		}
	}
}
