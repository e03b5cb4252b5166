package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/fleet/transport"
	"warp/pkg/oplog"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// The kinds of messages. Those in brackets are not JSON.
const (
	kindAttach   transport.Kind = iota + 1 // to the agent: what the connection is for
	kindAttached                           // its answer
	kindJob                                // to the agent: its share of the run
	kindDesired                            // to the agent: how far to go
	kindStatus                             // how far it has come
	kindPing                               // to the agent [ping]
	kindPong                               // its answer [pong]
	kindLive                               // figures of the last second [liveHead, aggregate.Live]
	kindPull                               // to the agent: send the log from here on
	kindChunk                              // a piece of the log [chunk]
	kindAck                                // to the agent: received so far [8 bytes]
	kindForget                             // to the agent: the kept log has arrived
	kindMetrics                            // those so far [sink.Counts]
	kindSummary                            // what the client has counted, once the run is over [aggregate.Summary]
	kindSoFar                              // what it has counted so far [aggregate.Summary]
)

// MaxJob is as many bytes as a job may be: files that flags name are in it.
const MaxJob = 32 << 20

// A purpose is what a coordinator connects for.
type purpose string

const (
	forRun     purpose = "run"     // a new run
	forResume  purpose = "resume"  // to go on with the run of a connection that broke
	forCollect purpose = "collect" // to fetch the log of a run whose coordinator is gone
)

// attach says what the connection is for. Key is a secret of the run: only
// the coordinator that began it can resume it. Client is the share of the run.
type attachRequest struct {
	Purpose purpose `json:"purpose"`
	Run     string  `json:"run"`
	Client  string  `json:"client,omitempty"`
	Key     string  `json:"key"`
}

// attached is the answer. Refused is empty where the coordinator may go on.
type attachReply struct {
	Refused string  `json:"refused,omitempty"`
	Wait    bool    `json:"wait,omitempty"`    // it will be free soon
	Unknown bool    `json:"unknown,omitempty"` // the run is not known here, and will never be
	Host    string  `json:"host"`              // the machine's name for itself
	HasJob  bool    `json:"has_job"`
	Status  status  `json:"status"`
	Kept    []Saved `json:"kept,omitempty"` // logs that nobody has collected
}

// Saved is a log that an agent has kept.
type Saved struct {
	Run       string `json:"run"`
	Client    string `json:"client"`
	Benchmark string `json:"benchmark"`
	Bytes     int64  `json:"bytes"`
	SHA256    []byte `json:"sha256"`
}

// A Job is one client's share of a run. It is made of typed values: there is
// nothing in it that names a file or a command of the agent's machine.
type Job struct {
	Options bench.Options   `json:"options"`
	Op      json.RawMessage `json:"op"` // of the type that Options.Benchmark names
	Store   Store           `json:"store"`
	// Header goes into the client's log; the agent completes it.
	Header oplog.Header `json:"header"`
	NoLog  bool         `json:"no_log,omitempty"`
	// DropLog says that the log is for the coordinator only: nobody keeps it.
	DropLog bool `json:"drop_log,omitempty"`
	// Analysis is how the report is made where there is no log.
	Analysis aggregate.Options `json:"analysis"`
	// Follow has the client send what it has counted while the run lasts, too.
	Follow bool `json:"follow,omitempty"`
	// Exports are where the client sends its figures itself.
	Exports sink.Destinations `json:"exports"`
	Name    string            `json:"name"` // that the coordinator calls the client
}

// keepsLog says whether there is a log that the client keeps.
func (j *Job) keepsLog() bool { return !j.NoLog && !j.DropLog }

// Size is how many bytes the job is on its way.
func (j *Job) Size() int {
	text, err := json.Marshal(j)
	if err != nil {
		return math.MaxInt
	}
	return len(text)
}

// A Store says how to reach the store, credentials and all.
type Store struct {
	Config store.Config `json:"config"`
	Keys   []store.Keys `json:"keys"` // the first one, and those that take turns with it
}

var identifier = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$`)

// check refuses a job that would make a name of a file into something else.
func (j *Job) check() error {
	o := &j.Options
	for _, id := range []string{o.RunID, o.ClientID, o.Benchmark} {
		if !identifier.MatchString(id) {
			return fmt.Errorf("%q is not a name", printable(id))
		}
	}
	const maxThreads = 1 << 16
	if o.Concurrency < 1 || o.Concurrency > maxThreads {
		return fmt.Errorf("%d requests at a time are not between 1 and %d", o.Concurrency, maxThreads)
	}
	if j.Analysis.SegmentDur < 0 {
		return fmt.Errorf("segments of %v", j.Analysis.SegmentDur)
	}
	const maxSlices = 100
	if len(j.Analysis.Slices) > maxSlices {
		return fmt.Errorf("pieces of %d lengths", len(j.Analysis.Slices))
	}
	for _, d := range j.Analysis.Slices {
		if d != 0 && d < time.Second {
			return fmt.Errorf("pieces of %v", d)
		}
	}
	return j.Exports.Check()
}

// A Phase is how far a share of a run has come. Each includes all before it.
type Phase int

// The phases in their order.
const (
	Attached Phase = iota // the agent is reserved
	Opened                // bucket and lease are there
	Prepared              // the objects are there
	Measured              // the run is over
	Stored                // the log is complete
	Cleaned               // what the run wrote is gone
	Released              // the agent is free
)

func (p Phase) String() string {
	names := [...]string{"connecting", "opening the bucket", "preparing", "measuring", "saving the log", "cleaning up", "being released"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("phase %d", int(p))
	}
	return names[p]
}

// A desiredState says how far the agent shall go. A later one replaces it.
type desiredState struct {
	Goal        Phase    `json:"goal"`
	Start       int64    `json:"start,omitempty"`        // when to measure, by the agent's clock
	Stop        string   `json:"stop,omitempty"`         // end the run now, and why
	End         int64    `json:"end,omitempty"`          // end the measured run in good order at this time of the agent's clock
	EndReason   string   `json:"end_reason,omitempty"`   // to end it; goes into the log
	Trace       string   `json:"trace,omitempty"`        // on = note the phases of requests from now on, off = no longer
	Notes       []string `json:"notes,omitempty"`        // for the log's trailer
	Orphans     []string `json:"orphans,omitempty"`      // lost clients whose objects are to be removed as well, after its own
	LogReceived bool     `json:"log_received,omitempty"` // the whole log has arrived

	// When the window begins and ends, by the agent's clock.
	Begin int64 `json:"begin,omitempty"`
	Close int64 `json:"close,omitempty"`

	Marks []oplog.Mark `json:"marks,omitempty"` // all so far, by the agent's clock
}

// traceOn is what Trace says where it is to be on.
const traceOn = "on"

// A status says how far the agent has come.
type status struct {
	Phase           Phase    `json:"phase"`
	Error           string   `json:"error,omitempty"`            // why it goes no further
	Code            string   `json:"code,omitempty"`             // what pkg/store calls that
	Unreachable     bool     `json:"unreachable,omitempty"`      // that was that no host of the store could be connected to
	CoordinatorLost bool     `json:"coordinator_lost,omitempty"` // it ended the run because it did not hear from the coordinator
	Log             bool     `json:"log,omitempty"`              // there is one to be pulled
	Began           int64    `json:"began,omitempty"`            // when it began to measure, by its clock
	Engine          string   `json:"engine,omitempty"`
	Title           string   `json:"title,omitempty"` // of what it does, or did last
	Idle            bool     `json:"idle,omitempty"`  // it has done that
	Total           int64    `json:"total,omitempty"`
	Done            int64    `json:"done,omitempty"`
	Moved           int64    `json:"moved,omitempty"` // bytes of payload that it took so far
	Bytes           int64    `json:"bytes,omitempty"` // of the log, once it is complete
	SHA256          []byte   `json:"sha256,omitempty"`
	Outcome         *outcome `json:"outcome,omitempty"`
	Warning         []string `json:"warning,omitempty"`       // all so far
	Clean           string   `json:"clean,omitempty"`         // why the clean-up failed
	TakesOrphans    bool     `json:"takes_orphans,omitempty"` // it has cleaned up and can do so for lost clients
	OrphansDone     int      `json:"orphans_done,omitempty"`  // of them it has cleaned up after
	Warm            bool     `json:"warm,omitempty"`          // the window may begin
	Cold            int      `json:"cold,omitempty"`          // workers that were not warm by then
	Ended           bool     `json:"ended,omitempty"`         // nothing is left to do for a worker, so the window may end
}

// A storeError is what a client had with the store. For whoever asks pkg/store it
// is what it was there.
type storeError struct {
	text  string
	cause error
}

func (e *storeError) Error() string { return e.text }

func (e *storeError) Unwrap() error { return e.cause }

// failure is why the client goes no further.
func (s *status) failure() error { return clientFailure(s.Error, s.Code, s.Unreachable) }

// clientFailure is an error that a client had, of which the code is what pkg/store calls it.
func clientFailure(text, code string, unreachable bool) error {
	if code == "" {
		return errors.New(text)
	}
	var cause error = &store.Error{Code: code}
	if unreachable {
		cause = &store.UnreachableError{Err: cause}
	}
	return &storeError{text, cause}
}

// An outcome is a bench.Outcome on its way.
type outcome struct {
	Trailer      oplog.Trailer `json:"trailer"`
	Sent, Failed int64
	Fatal        string `json:"fatal,omitempty"`
	Code         string `json:"code,omitempty"`     // what pkg/store calls that
	TooMany      bool   `json:"too_many,omitempty"` // more errors than allowed
	Interrupted  bool   `json:"interrupted,omitempty"`
}

// pull asks for the log from an offset on; of a kept run, if one is named.
type pull struct {
	Offset int64  `json:"offset"`
	Run    string `json:"run,omitempty"`
}

// printable shortens what somebody else has sent, for a message.
func printable(s string) string { return fmt.Sprintf("%.64s", s) }

// decode reads JSON strictly: what this build does not know is an error, not
// something to leave out of a benchmark in silence.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("a message cannot be read: %w", err)
	}
	if d.More() {
		return errors.New("a message cannot be read: something follows it")
	}
	return nil
}
