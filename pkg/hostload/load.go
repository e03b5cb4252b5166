package hostload

import "encoding/json"

// Load is what the measured run cost the client that made it.
type Load struct {
	CPUSeconds  float64 `json:"cpu_s"`                  // user and system time
	CPUWaitS    float64 `json:"cpu_wait_s"`             // time that threads were ready to run without getting a core; 0 where not known
	IdleShare   float64 `json:"cores_idle"`             // share of the time of the CPUs that warp may run on in which nobody used them; 0 = not known, or none
	WallSeconds float64 `json:"wall_s"`                 // length of the measured run
	Cores       float64 `json:"cores"`                  // cores that warp may use: affinity and quota count
	MaxRSSBytes int64   `json:"max_rss"`                // peak resident memory of the process
	GCPauseS    float64 `json:"gc_pause_s"`             // sum of stop-the-world pauses
	GoSchedS    float64 `json:"go_sched_latency_p99_s"` // 99 % of the times that a runnable goroutine waited to run were shorter
	PacingLagS  float64 `json:"pacing_lag_p99_s"`       // of the requests of an open loop that a worker waited for, 99 % were sent less late; 0 = not known
	LagMaxS     float64 `json:"lag_max_s"`              // how far the collector fell behind the workers
	Connections int64   `json:"connections"`            // opened for the load
	Link        string  `json:"link,omitempty"`         // network interface that was used most of its speed
	LinkShare   float64 `json:"link_share,omitempty"`   // share of that interface's speed, 0 to 1; 0 = not known
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

// Add adds up what the clients have and used. What bounds a client by
// itself, and the time, is that of the one that was worst off.
func Add(a, b *Load) *Load {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		if a == nil {
			return nil
		}
		sum := *a
		return &sum
	}
	link := a
	if b.LinkShare > a.LinkShare || b.LinkShare == a.LinkShare && b.Link < a.Link {
		link = b
	}
	return &Load{
		CPUSeconds:  a.CPUSeconds + b.CPUSeconds,
		CPUWaitS:    a.CPUWaitS + b.CPUWaitS,
		Cores:       a.Cores + b.Cores,
		Connections: a.Connections + b.Connections,
		GoSchedS:    max(a.GoSchedS, b.GoSchedS),
		PacingLagS:  max(a.PacingLagS, b.PacingLagS),
		Link:        link.Link,
		LinkShare:   link.LinkShare,
		WallSeconds: max(a.WallSeconds, b.WallSeconds),
		MaxRSSBytes: max(a.MaxRSSBytes, b.MaxRSSBytes),
		GCPauseS:    max(a.GCPauseS, b.GCPauseS),
		LagMaxS:     max(a.LagMaxS, b.LagMaxS),
	}
}
