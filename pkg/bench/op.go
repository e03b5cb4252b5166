// Package bench holds the benchmark operations and the [Runner] that drives them.
//
// A run has an [Op], which prepares objects and then performs one step after the
// other on each [Worker]. [Worker.Measure] times every request. Its records go
// through a queue of the worker to the collector, which hands them to the sinks
// and decides on the measured window.
package bench

import (
	"context"
	"errors"
)

// An Op is one kind of benchmark.
type Op interface {
	// Prepare prepares the measured run: it uploads objects, for example.
	Prepare(ctx context.Context, e *Env) error
	// Do performs one step on one worker; it may Measure any number of requests.
	Do(ctx context.Context, w *Worker) error
}

// A partUploader is an Op that uploads in parts, whatever the size.
type partUploader interface{ uploadsInParts() }

// A multiplexer is an Op with several requests of one worker at a time.
type multiplexer interface {
	// requestsAtOnce returns the maximum number of these.
	requestsAtOnce() int
}

// errDone is returned by Do when nothing is left to do. The run then ends
// successfully.
var errDone = errors.New("nothing left to do")

// A done is errDone with a reason, which the report repeats.
type done string

func (d done) Error() string { return string(d) }

func (d done) Is(target error) bool { return target == errDone }

// Progress receives the progress of the phases before and after the measured run.
type Progress interface {
	Begin(title string, total int64) // total 0 = not known
	Add(n int64)
	Moved(bytes int64) // payload that was uploaded
	End()
	Warn(text string)
	// Measuring is called when the measured run starts. The runner calls stop
	// when it ends.
	Measuring() (stop func())
}

// noProgress is a Progress that shows nothing.
type noProgress struct{}

func (noProgress) Begin(string, int64) {}
func (noProgress) Add(int64)           {}
func (noProgress) Moved(int64)         {}
func (noProgress) End()                {}
func (noProgress) Warn(string)         {}
func (noProgress) Measuring() func()   { return func() {} }
