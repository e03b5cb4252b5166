package hostload

import (
	"encoding/json"
	"testing"
)

// Logs of every version are read.
func TestLoadOfAnOldLog(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"old": `{"cpu_s":1.5,"wall_s":2,"cores":2,"max_rss":4,"gc_pause_s":0.1,"sched_p99_s":0.25,"connections":3}`,
		"new": `{"cpu_s":1.5,"wall_s":2,"cores":2,"max_rss":4,"gc_pause_s":0.1,"go_sched_latency_p99_s":0.25,"connections":3}`,
	} {
		var l Load
		want := Load{CPUSeconds: 1.5, WallSeconds: 2, Cores: 2, MaxRSSBytes: 4, GCPauseS: 0.1, GoSchedS: 0.25, Connections: 3}
		if err := json.Unmarshal([]byte(text), &l); err != nil || l != want {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"cores":"many"}`), new(Load)); err == nil {
		t.Error("nonsense is a load")
	}
}
