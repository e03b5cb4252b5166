package protocol

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/oplog"
	"warp/pkg/sink"
	"warp/pkg/store"
)

// MaxJob is the maximum size of a job in bytes, with the files that flags name.
const MaxJob = 32 << 20

// A Job is one client's share of a run. It is made of typed values: there is
// nothing in it that names a file or a command of the agent's machine.
type Job struct {
	Options bench.Options   `json:"options"`
	Op      json.RawMessage `json:"op"` // of the type that Options.Benchmark names
	Store   Store           `json:"store"`
	// Header has the command line for the client's log, and what the coordinator knows of its clock.
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

// KeepsLog reports whether there is a log that the client keeps.
func (j *Job) KeepsLog() bool { return !j.NoLog && !j.DropLog }

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

// IsName reports whether id can be part of the name of a file.
func IsName(id string) bool { return identifier.MatchString(id) }

// Check refuses a job that would turn the name of a file into something else, or
// ask for too much.
func (j *Job) Check() error {
	o := &j.Options
	for _, id := range []string{o.RunID, o.ClientID, o.Benchmark} {
		if !IsName(id) {
			return fmt.Errorf("%.64q is not a name", id)
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
