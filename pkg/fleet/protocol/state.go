package protocol

import (
	"errors"
	"fmt"

	"warp/pkg/oplog"
	"warp/pkg/store"
)

// A Phase is how far a share of a run has come. Each includes all before it.
type Phase int

// The phases in their order.
const (
	Attached Phase = iota // the agent is reserved
	Opened                // bucket and lease are there
	Prepared              // the objects are there
	Measured              // the run is over
	Stored                // the log is complete
	Cleaned               // the objects of the run are gone
	Released              // the agent is free
)

func (p Phase) String() string {
	names := [...]string{"connecting", "opening the bucket", "preparing", "measuring", "saving the log", "cleaning up", "being released"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("phase %d", int(p))
	}
	return names[p]
}

// A DesiredState says how far the agent goes. A later one replaces it.
type DesiredState struct {
	Goal        Phase    `json:"goal"`
	Start       int64    `json:"start,omitempty"`        // when to measure, by the agent's clock
	Stop        string   `json:"stop,omitempty"`         // end the run now, and why
	End         int64    `json:"end,omitempty"`          // end the measured run in good order at this time of the agent's clock
	EndReason   string   `json:"end_reason,omitempty"`   // why the run ends then, for the log
	Trace       string   `json:"trace,omitempty"`        // whether to record the phases of requests from now on: on or off; "" = no change
	Notes       []string `json:"notes,omitempty"`        // for the log's trailer
	Orphans     []string `json:"orphans,omitempty"`      // lost clients whose objects the agent removes after its own
	HandOver    bool     `json:"hand_over,omitempty"`    // leave the objects and the marker, which the coordinator has adopted
	LogReceived bool     `json:"log_received,omitempty"` // the whole log has arrived

	// When the window begins and ends, by the agent's clock.
	Begin int64 `json:"begin,omitempty"`
	Close int64 `json:"close,omitempty"`

	Marks []oplog.Mark `json:"marks,omitempty"` // all so far, by the agent's clock
}

// The values of DesiredState.Trace.
const (
	TraceOn  = "on"
	TraceOff = "off"
)

// A Status says how far the agent has come.
type Status struct {
	Phase           Phase    `json:"phase"`
	Error           string   `json:"error,omitempty"`            // why it goes no further
	Code            string   `json:"code,omitempty"`             // the code of the error in pkg/store
	Unreachable     bool     `json:"unreachable,omitempty"`      // no host of the store accepted a connection
	CoordinatorLost bool     `json:"coordinator_lost,omitempty"` // the agent ended the run because it heard nothing from the coordinator
	Log             bool     `json:"log,omitempty"`              // there is a log to fetch
	Began           int64    `json:"began,omitempty"`            // when the measurement began, by the agent's clock
	Engine          string   `json:"engine,omitempty"`
	Title           string   `json:"title,omitempty"` // of the current step, or of the last one
	Idle            bool     `json:"idle,omitempty"`  // the step is over
	Total           int64    `json:"total,omitempty"`
	Done            int64    `json:"done,omitempty"`
	Moved           int64    `json:"moved,omitempty"` // bytes of payload so far
	Bytes           int64    `json:"bytes,omitempty"` // of the log, once it is complete
	SHA256          []byte   `json:"sha256,omitempty"`
	Outcome         *Outcome `json:"outcome,omitempty"`
	Warning         []string `json:"warning,omitempty"`       // all so far
	Clean           string   `json:"clean,omitempty"`         // why the clean-up failed
	TakesOrphans    bool     `json:"takes_orphans,omitempty"` // the agent has cleaned up, and can clean up after lost clients
	OrphansDone     int      `json:"orphans_done,omitempty"`  // lost clients after which it has cleaned up
	Warm            bool     `json:"warm,omitempty"`          // the window may begin
	Cold            int      `json:"cold,omitempty"`          // workers that were not warm by then
	Ended           bool     `json:"ended,omitempty"`         // a worker has nothing left to do, so the window may end
}

// A storeError is an error that a client had with the store. [store.CodeOf] and
// [errors.As] find the same code and type in it.
type storeError struct {
	text  string
	cause error
}

func (e *storeError) Error() string { return e.text }

func (e *storeError) Unwrap() error { return e.cause }

// Err returns why the client goes no further.
func (s *Status) Err() error { return failure(s.Error, s.Code, s.Unreachable) }

// failure returns an error that a client had, with its code in pkg/store.
func failure(text, code string, unreachable bool) error {
	if code == "" {
		return errors.New(text)
	}
	var cause error = &store.Error{Code: code}
	if unreachable {
		cause = &store.UnreachableError{Err: cause}
	}
	return &storeError{text, cause}
}

// An Outcome is how a client's run ended.
type Outcome struct {
	Trailer      oplog.Trailer `json:"trailer"`
	Sent, Failed int64
	Fatal        string `json:"fatal,omitempty"`
	Code         string `json:"code,omitempty"`     // the code of the error in pkg/store
	TooMany      bool   `json:"too_many,omitempty"` // more errors than allowed
	Interrupted  bool   `json:"interrupted,omitempty"`
}

// Err returns the error that ended the run early.
func (o *Outcome) Err() error { return failure(o.Fatal, o.Code, false) }

// Interrupted is the DesiredState.Stop of a run that the user has interrupted.
const Interrupted = "interrupted"
