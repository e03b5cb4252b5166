// Package recording carries the records of requests from the workers of a run to its
// sinks, and decides on the measured window.
//
//	worker ─ Queue ─▶ Collector ─▶ sinks
//	                   Window
//
// Each worker appends to a [Queue] that only it writes, and never waits. The
// [Collector] empties all queues several times a second into the sinks. Between two
// batches it announces the instants that the [Window] has decided on: no sink gets
// a row that ended after an instant before it gets the instant.
package recording

import "warp/pkg/oplog"

// A Sink takes batches of records, from one goroutine.
type Sink interface {
	Write([]oplog.Record) error
	// Flush makes everything written so far safe; it is called every second.
	Flush() error
}

// A Watcher is a Sink that receives the number of requests in flight by operation,
// right before each Flush.
type Watcher interface {
	InFlight(byOp map[string]int)
}

// A WindowSink is a Sink that receives the window of the run. SetWindow is called
// in order with the rows, once for each instant that the run has decided on: rows
// of the measured part come after Start, and a row that ended after an instant
// comes after that instant. A script has no window.
type WindowSink interface {
	SetWindow(oplog.Window) error
}

// A MarkSink is a Sink that receives marks. AddMark is called in order with the
// rows: a row that ended after a mark comes after it.
type MarkSink interface {
	AddMark(oplog.Mark) error
}
