package sink

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
)

// TestPhasesInStatsD checks that a common receiver gets as many times of each phase as were
// recorded, and their sum.
func TestPhasesInStatsD(t *testing.T) {
	t.Parallel()
	r := teststore.StartReceiver(t, teststore.StatsdExporter, teststore.ReceiverOptions{})
	s, err := newStatsD(r.UDP, "warp.host-client.")
	check.OK(t, err)
	var rows []oplog.Record
	for i := range 30 {
		row := oplog.Record{Op: "GET", Objects: 1, Bytes: 1, Duration: 20 * time.Millisecond, Status: 200}
		if i%3 == 0 { // the others are not in the sample
			row.Phases = &oplog.Phases{3: time.Millisecond, 4: time.Duration(i) * time.Millisecond, 5: 3 * time.Millisecond}
		}
		if i == 0 {
			row.Phases[1] = 5 * time.Millisecond
		}
		rows = append(rows, row)
	}
	check.OK(t, s.Write(rows))
	if lost := s.Close(); lost != "" {
		t.Fatal(lost)
	}
	want := map[string][2]float64{ // count and seconds; those of 0 were not recorded
		"connect": {1, 0.005}, "send": {10, 0.010}, "wait": {9, 0.135}, "receive": {10, 0.030}, "dns": {0, 0},
	}
	page := ""
	value := func(name string) float64 {
		m := regexp.MustCompile(`(?m)^warp_host_client_get_latency_` + name + ` (\S+)$`).FindStringSubmatch(page)
		if m == nil {
			return 0
		}
		v, _ := strconv.ParseFloat(m[1], 64)
		return v
	}
	wrong := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if page, err = r.Get(t.Context(), "/metrics"); err != nil {
			t.Fatal(err)
		}
		wrong = ""
		for name, w := range want {
			if n, sum := value(name+"_count"), value(name+"_sum"); n != w[0] || math.Abs(sum-w[1]) > 1e-6 {
				wrong = name
			}
		}
		if wrong == "" {
			return
		}
	}
	t.Errorf("%s is not what was sent: %s", wrong, page)
}
