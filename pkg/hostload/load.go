package hostload

import (
	"encoding/json"
	"time"
)

// Load is the cost of the measured run for the client.
type Load struct {
	CPUSeconds  float64   `json:"cpu_s"`                  // user and system time
	CPUWaitS    float64   `json:"cpu_wait_s"`             // time that threads were ready to run but had no core; 0 = unknown
	IdleShare   float64   `json:"cores_idle"`             // share of the time of the CPUs that warp may use in which they were idle; 0 = unknown, or none
	WallSeconds float64   `json:"wall_s"`                 // length of the measured run
	Cores       float64   `json:"cores"`                  // cores that warp may use, after affinity and quota
	MaxRSSBytes int64     `json:"max_rss"`                // peak resident memory of the process
	GCPauseS    float64   `json:"gc_pause_s"`             // sum of stop-the-world pauses
	GoSchedS    float64   `json:"go_sched_latency_p99_s"` // 99th percentile of the time that a runnable goroutine waited to run
	PacingLagS  float64   `json:"pacing_lag_p99_s"`       // 99th percentile of the delay of requests in an open loop, see Lag; 0 = unknown
	LagMaxS     float64   `json:"lag_max_s"`              // max delay of the collector behind the workers
	Connections int64     `json:"connections"`            // opened for the load
	Machine     string    `json:"machine,omitempty"`      // hash that identifies the machine; containers of one kernel share it; "" = unknown
	CPUs        string    `json:"cpus,omitempty"`         // CPUs that warp may use, one bit for each, in hexadecimal; "" = unknown
	Start       time.Time `json:"start,omitzero"`         // start of the measured run, by the machine's clock
	Link        string    `json:"link,omitempty"`         // network interface with the highest share of its speed used
	LinkShare   float64   `json:"link_share,omitempty"`   // that share, 0 to 1; 0 = unknown
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
