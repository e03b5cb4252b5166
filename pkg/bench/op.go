// Package bench holds the benchmark operations and the runner that drives
// them: it prepares objects, keeps workers busy, records every request and
// removes what it wrote, and nothing else.
package bench

import (
	"context"
	"errors"

	"warp/pkg/oplog"
)

// An Op is one kind of benchmark.
type Op interface {
	// Prepare brings about what the measured run needs.
	Prepare(ctx context.Context, e *Env) error
	// Do performs one step on one worker; it may Measure any number of requests.
	Do(ctx context.Context, w *Worker) error
}

// A partUploader is an Op that uploads in parts whatever the size.
type partUploader interface{ uploadsInParts() }

// A multiplexer is an Op of which one worker sends several requests at a time.
type multiplexer interface {
	// requestsAtOnce is how many at most.
	requestsAtOnce() int
}

// ErrDone is returned by Do when nothing is left to do. It ends the run well.
var ErrDone = errors.New("nothing left to do")

// A done is ErrDone with a reason, which the report repeats.
type done string

func (d done) Error() string { return string(d) }

func (d done) Is(target error) bool { return target == ErrDone }

// A Sink takes batches of records, from one goroutine.
type Sink interface {
	Write([]oplog.Record) error
	// Flush makes everything written so far safe; it is called every second.
	Flush() error
}

// A Watcher is a Sink that wants to know how many requests of each operation
// are in flight: it is told right before each Flush.
type Watcher interface {
	InFlight(byOp map[string]int)
}

// A WindowSink is a Sink that wants to know about the window of the run. It is
// told in order with the rows, once for each instant that the run has decided
// on: those of the measured part come after Start, and a row that ended after
// an instant comes after it. A script has no window.
type WindowSink interface {
	SetWindow(oplog.Window) error
}

// Progress is told how the phases other than the measured run come along.
type Progress interface {
	Begin(title string, total int64) // total 0 = not known
	Add(n int64)
	End()
	Warn(text string)
	// Measuring is called when the measured run starts and returns what to
	// call when it ends.
	Measuring() (stop func())
}

// Silent is the Progress that shows nothing.
type Silent struct{}

func (Silent) Begin(string, int64) {}
func (Silent) Add(int64)           {}
func (Silent) End()                {}
func (Silent) Warn(string)         {}
func (Silent) Measuring() func()   { return func() {} }
