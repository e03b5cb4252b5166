package oplog

import (
	"slices"
	"strconv"
	"time"

	"warp/pkg/hostload"
)

// A Header is what the comment on the second line of a log says about its run.
// Logs of other tools have none; theirs is the zero value.
type Header struct {
	Warp       string            `json:"warp"`              // version of warp that wrote the log
	Run        string            `json:"run"`               // run id, the same for all clients of a run
	Client     string            `json:"client,omitempty"`  // client id of the rows, where there is one
	Address    string            `json:"address,omitempty"` // of the client, as the coordinator of its run knows it
	Benchmark  string            `json:"benchmark"`         // command name: get, put, mixed, …
	Command    string            `json:"command"`           // command line without secrets
	Engine     string            `json:"engine,omitempty"`  // what sent the requests
	Seed       uint64            `json:"seed,string"`       // a string, since JSON readers round above 2^53
	Start      time.Time         `json:"start"`
	Parameters map[string]string `json:"parameters,omitempty"` // flag name to value, defaults included
	Statements []string          `json:"statements,omitempty"` // of a script, as they were written, or the stages of --stages
	Staged     bool              `json:"staged,omitempty"`     // the statements are stages
	Workload   *Workload         `json:"workload,omitempty"`   // of all clients together; older logs have none
	Merged     []Origin          `json:"merged,omitempty"`     // whose rows these are, in a merged log
	// Threads is how many the client may use, where that was known before the
	// first row. Merge leaves as many numbers for it, used or not.
	Threads uint32 `json:"threads,omitempty"`
	// Windowed says that the log has comments about its window, see Window.
	Windowed bool `json:"windowed,omitempty"`

	// ClockOffset is how far the clock of these rows is ahead of the clock of
	// the run's coordinator, in ns. Merge subtracts it from all times.
	ClockOffset int64 `json:"clock_offset_ns,omitempty"`
	// ClockError is by how much ClockOffset may be wrong, in ns.
	ClockError int64 `json:"clock_error_ns,omitempty"`
	// ClockApplied is the offset that a merge has taken off.
	ClockApplied int64 `json:"clock_applied_ns,omitempty"`

	// Checks says what warp consistency checked. The log has columns for it.
	Checks *Checks `json:"checks,omitempty"`

	// Like is the first 16 hexadecimal digits of the SHA-256 of the profile that sets the load; "" = none.
	Like string `json:"like,omitempty"`

	// Replay says which log was sent again.
	Replay *Replay `json:"replay,omitempty"`

	// Scripted says that the log has a column for the statements of a script,
	// whether or not their text is known. A Writer also adds the column if
	// there are Statements.
	Scripted bool `json:"-"`
}

// HasVersions reports whether the run had several versions of its objects. Rows do not say which one they are about.
func (h *Header) HasVersions() bool {
	n, _ := strconv.Atoi(h.Parameters["versions"])
	if n > 1 || h.Benchmark == "versioned" {
		return true
	}
	return slices.ContainsFunc(h.Merged, func(o Origin) bool { return o.Header.HasVersions() })
}

// A Workload says what load a run makes. Package identity computes it.
type Workload struct {
	ID       string            `json:"id,omitempty"`       // 16 hexadecimal digits, the same for the same load; "" = unknown
	Settings map[string]string `json:"settings,omitempty"` // that define the load; the id is a hash of them
	Unknown  string            `json:"unknown,omitempty"`  // why there is no id
}

// An Origin is one client of one run in a merged log. Its threads were moved
// up by Offset, so that no two clients share a thread number.
type Origin struct {
	Run     string  `json:"run"`
	Client  string  `json:"client"`
	Offset  uint32  `json:"offset"`
	Threads uint32  `json:"threads"` // numbers that the client has before the offset: the highest in use plus one, or more
	Header  Header  `json:"header"`
	Window  *Window `json:"window,omitempty"` // nil where its log was cut off, or has none
}

// A Trailer is what the comments at the end of a log say: what only the run
// itself knew. Logs that were cut off have none.
type Trailer struct {
	End     string         `json:"end"`               // completed, interrupted, or aborted
	Reason  string         `json:"reason,omitempty"`  // why it ended early
	Notes   []string       `json:"notes,omitempty"`   // warnings that every later report repeats
	Offered float64        `json:"offered,omitempty"` // requests/s that an open-loop schedule asked for
	Rows    int64          `json:"rows,omitempty"`    // that the log has; a Writer sets it
	Unsent  int64          `json:"unsent,omitempty"`  // requests that were due in the window and not sent when the run ended
	Load    *hostload.Load `json:"load,omitempty"`
	Window  *Window        `json:"window,omitempty"`
	// UnsentWaits says how long the unsent requests had waited; a merged log has them per run in Merged.
	UnsentWaits *Unsent `json:"unsent_waits,omitempty"`
	// UnsentStages are the same for each stage of a run whose rate changes in stages; nil if all of its requests were sent.
	UnsentStages []Unsent `json:"unsent_stages,omitempty"`
	// StageLengths are the lengths of the stages, in ns; the last one is shorter if the run ended early.
	StageLengths []int64 `json:"stage_lengths_ns,omitempty"`
	CutOff       *CutOff `json:"cut_off,omitempty"`
	Pauses       []Pause `json:"pauses,omitempty"`
	Picks        *Picks  `json:"picks,omitempty"`
	// Merged are, in a merged log, the trailers of the clients' own, in the order of the header; nil where one was cut
	// off or had none. The header cannot have them: it is written when the ends of the logs are not read yet.
	Merged []*Trailer `json:"merged,omitempty"`
}
