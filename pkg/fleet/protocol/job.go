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

// A Job is one client's share of a run. It cannot name a file or a command of
// the agent's machine.
type Job struct {
	Options bench.Options   `json:"options"`
	Op      json.RawMessage `json:"op"` // of the type that Options.Benchmark names
	Store   Store           `json:"store"`
	// Header has the command line for the client's log, and the coordinator's
	// measurement of the client's clock.
	Header oplog.Header `json:"header"`
	NoLog  bool         `json:"no_log,omitempty"`
	// DropLog is set if only the coordinator needs the log, so the client does
	// not keep it.
	DropLog bool `json:"drop_log,omitempty"`
	// Analysis has the options of a report without logs.
	Analysis aggregate.Options `json:"analysis"`
	// Follow makes the client also send interim summaries during the run.
	Follow bool `json:"follow,omitempty"`
	// Exports are receivers to which the client sends its figures itself.
	Exports sink.Destinations `json:"exports"`
	Name    string            `json:"name"` // the coordinator's name for the client
}

// KeepsLog reports whether the client keeps a log.
func (j *Job) KeepsLog() bool { return !j.NoLog && !j.DropLog }

// Size returns the encoded size in bytes.
func (j *Job) Size() int {
	text, err := json.Marshal(j)
	if err != nil {
		return math.MaxInt
	}
	return len(text)
}

// A Store describes the store, including credentials.
type Store struct {
	Config store.Config `json:"config"`
	Keys   []store.Keys `json:"keys"` // in rotation, the first one first
}

var identifier = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$`)

// IsName reports whether id can be part of a file name.
func IsName(id string) bool { return identifier.MatchString(id) }

// Check refuses a job that would misuse a file name or use excessive resources.
func (j *Job) Check() error {
	o := &j.Options
	for _, id := range []string{o.RunID, o.ClientID, o.Benchmark} {
		if !IsName(id) {
			return fmt.Errorf("%.64q is not a name", id)
		}
	}
	const maxThreads = 1 << 16
	if o.Concurrency < 1 || o.Concurrency > maxThreads {
		return fmt.Errorf("a concurrency of %d is not between 1 and %d", o.Concurrency, maxThreads)
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
