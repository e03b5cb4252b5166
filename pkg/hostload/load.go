package hostload

import (
	"encoding/json"
	"time"
)

// Load is what the measured run cost the client that made it.
type Load struct {
	CPUSeconds  float64   `json:"cpu_s"`                  // user and system time
	CPUWaitS    float64   `json:"cpu_wait_s"`             // time that threads were ready to run without getting a core; 0 where not known
	IdleShare   float64   `json:"cores_idle"`             // share of the time of the CPUs that warp may run on in which nobody used them; 0 = not known, or none
	WallSeconds float64   `json:"wall_s"`                 // length of the measured run
	Cores       float64   `json:"cores"`                  // cores that warp may use: affinity and quota count
	MaxRSSBytes int64     `json:"max_rss"`                // peak resident memory of the process
	GCPauseS    float64   `json:"gc_pause_s"`             // sum of stop-the-world pauses
	GoSchedS    float64   `json:"go_sched_latency_p99_s"` // 99 % of the times that a runnable goroutine waited to run were shorter
	PacingLagS  float64   `json:"pacing_lag_p99_s"`       // of the requests of an open loop that a worker waited for, 99 % were sent less late; 0 = not known
	LagMaxS     float64   `json:"lag_max_s"`              // how far the collector fell behind the workers
	Connections int64     `json:"connections"`            // opened for the load
	Machine     string    `json:"machine,omitempty"`      // hash of what tells it from others; clients in containers of one kernel have the same; "" = not known
	CPUs        string    `json:"cpus,omitempty"`         // that warp may run on, in hexadecimal, a bit for each; "" = not known
	Start       time.Time `json:"start,omitzero"`         // of the measured run, by the machine's clock
	Link        string    `json:"link,omitempty"`         // network interface that was used most of its speed
	LinkShare   float64   `json:"link_share,omitempty"`   // share of that interface's speed, 0 to 1; 0 = not known
}

// UnmarshalJSON also reads the names that fields had in earlier logs.
func (l *Load) UnmarshalJSON(text []byte) error {
	type fields Load
	x := struct {
		*fields
		SchedP99S float64 `json:"sched_p99_s"`
	}{fields: (*fields)(l)}
	err := json.Unmarshal(text, &x)
	if x.SchedP99S != 0 {
		l.GoSchedS = x.SchedP99S
	}
	return err
}
