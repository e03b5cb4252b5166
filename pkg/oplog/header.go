package oplog

import "time"

// A Header is what the comment on the second line of a log says about its run.
// Logs of other tools have none; theirs is the zero value.
type Header struct {
	Warp       string            `json:"warp"`             // version of warp that wrote the log
	Run        string            `json:"run"`              // run id, the same for all clients of a run
	Client     string            `json:"client,omitempty"` // client id of the rows, where there is one
	Benchmark  string            `json:"benchmark"`        // command name: get, put, mixed, …
	Command    string            `json:"command"`          // command line without secrets
	Engine     string            `json:"engine,omitempty"` // what sent the requests
	Seed       uint64            `json:"seed,string"`      // a string, since JSON readers round above 2^53
	Start      time.Time         `json:"start"`
	Parameters map[string]string `json:"parameters,omitempty"` // flag name to value, defaults included
	Statements []string          `json:"statements,omitempty"` // of a script, as they were written
	Merged     []Origin          `json:"merged,omitempty"`     // whose rows these are, in a merged log
	// Threads is how many the client may use, where that was known before the
	// first row. Merge leaves as many numbers for it, used or not.
	Threads uint32 `json:"threads,omitempty"`

	// ClockOffset is how far the clock of these rows is ahead of the clock of
	// the run's coordinator, in ns. Merge takes it off all times.
	ClockOffset int64 `json:"clock_offset_ns,omitempty"`
	// ClockApplied is the offset that a merge has taken off.
	ClockApplied int64 `json:"clock_applied_ns,omitempty"`

	statementRows bool // rows have statements, whether or not anybody knows their text
}

// hasStatements says whether the log has a column for the statements of a script.
func (h *Header) hasStatements() bool { return h.statementRows || len(h.Statements) > 0 }

// An Origin is one client of one run in a merged log. Its threads were moved
// up by Offset, so that no two clients share a thread number.
type Origin struct {
	Run     string `json:"run"`
	Client  string `json:"client"`
	Offset  uint32 `json:"offset"`
	Threads uint32 `json:"threads"` // numbers that the client has before the offset: the highest in use plus one, or more
	Header  Header `json:"header"`
}

// A Trailer is what the comments at the end of a log say: what only the run
// itself knew. Logs that were cut off have none.
type Trailer struct {
	End     string   `json:"end"`               // completed, interrupted, or aborted
	Reason  string   `json:"reason,omitempty"`  // why it ended early
	Notes   []string `json:"notes,omitempty"`   // warnings that every later report repeats
	Offered float64  `json:"offered,omitempty"` // requests/s that an open-loop schedule asked for
	Unsent  int64    `json:"unsent,omitempty"`  // requests that were due but not sent when the run ended
	Load    *Load    `json:"load,omitempty"`
	// Merged are, in a merged log, the trailers of the clients' own, in the order of the header; nil where one was cut
	// off or had none. The header cannot have them: it is written when the ends of the logs are not read yet.
	Merged []*Trailer `json:"merged,omitempty"`
}

// Load is what the measured run cost the client that made it.
type Load struct {
	CPUSeconds  float64 `json:"cpu_s"`                      // user and system time
	CPUWaitS    float64 `json:"cpu_wait_s"`                 // time that threads were ready to run without getting a core; 0 where not known
	WallSeconds float64 `json:"wall_s"`                     // length of the measured run
	Cores       float64 `json:"cores"`                      // cores that warp may use: affinity and quota count
	MaxRSSBytes int64   `json:"max_rss"`                    // peak resident memory of the process
	GCPauseS    float64 `json:"gc_pause_s"`                 // sum of stop-the-world pauses
	SchedP99S   float64 `json:"sched_p99_s"`                // 99 % of the times that a runnable goroutine waited for a core were below
	PacingLagS  float64 `json:"pacing_lag_p99_s,omitempty"` // of the requests of an open loop that a worker waited for, 99 % were sent less late; 0 = not known
	LagMaxS     float64 `json:"lag_max_s"`                  // how far the collector fell behind the workers
	Connections int64   `json:"connections"`                // opened for the load
	Link        string  `json:"link,omitempty"`             // network interface that was used most of its speed
	LinkShare   float64 `json:"link_share,omitempty"`       // share of that interface's speed, 0 to 1; 0 = not known
}
