package consistency

import (
	"math"

	"warp/pkg/oplog"
)

// Outcomes of operations, as the op log has them.
const (
	Won         = "won"         // a write that the store acknowledged, or a read with an answer
	Lost        = "lost"        // the condition did not hold, or another request was in the way
	Absent      = "absent"      // the read found no object
	Refused     = "refused"     // the store was busy; the request may have taken effect all the same
	Unknown     = "unknown"     // nobody knows whether the request took effect
	Unsupported = "unsupported" // the store does not know the request or its condition
	Failed      = "failed"      // the request certainly had no effect
)

// Conditions of operations, as the op log has them.
const (
	IfAbsent = "absent"  // no object of that name exists
	ifIs     = "is:"     // followed by the token of the version that the request replaces, deletes or reads
	ifLike   = "like:"   // followed by the token of a version whose name differs in the last character only
	ifFalse  = "false:"  // in front of a condition that was false when the only client sent it
	Aborted  = "aborted" // the upload in parts goes on after it was aborted
)

// IfIs returns the condition that the current version has that token.
func IfIs(token string) string { return ifIs + token }

// IfLike returns the condition that the current version has almost the name of the version with that token.
func IfLike(token string) string { return ifLike + token }

// False returns a condition that the only client of the key knew to be false.
func False(condition string) string { return ifFalse + condition }

// Names of operations, as the op log has them.
const (
	Put      = "PUT"
	Get      = "GET"
	Stat     = "STAT"
	Delete   = "DELETE"
	List     = "LIST"
	Complete = "COMPLETE" // of an upload in parts
	Abort    = "ABORT"
	PutPart  = "PUTPART"
)

// An Operation is one request as its client saw it.
type Operation struct {
	*oplog.Check
	Op, Key  string
	Run      string
	Client   string
	Thread   uint32
	Endpoint string
	Err      string
	Status   uint16
	// Start and End enclose the time at which the request took effect, in Unix ns. They are wider than the request where
	// clocks are not exact.
	Start, End int64
}

// forever is the end of a request that may take effect at any later time.
const forever = math.MaxInt64

// isWrite reports whether the operation changes the object, if it has an effect.
func (o *Operation) isWrite() bool {
	return o.Op == Put || o.Op == Delete || o.Op == Complete
}

func (o *Operation) isRead() bool { return o.Op == Get || o.Op == Stat }

// mayTakeEffect reports whether the store has not refused a write for good.
func (o *Operation) mayTakeEffect() bool { return o.Outcome != Failed && o.Outcome != Unsupported }

// acknowledged reports whether a write certainly took effect before its end.
func (o *Operation) acknowledged() bool { return o.Outcome == Won }

// open reports whether a write may have taken effect, at any time after its start.
func (o *Operation) open() bool { return o.Outcome == Unknown || o.Outcome == Refused }

// answered reports whether a read says what it saw.
func (o *Operation) answered() bool { return o.Outcome == Won || o.Outcome == Absent }

// decides reports whether the store answered a request that the property is about. Reads alone show nothing.
func (o *Operation) decides() bool {
	op, conditional := Put, true
	switch o.Property {
	case DeleteIf:
		op = Delete
	case CompleteIf:
		op = Complete
	case ReadAfterWrite, ListAfterWrite, Whole:
		conditional = false
	}
	if conditional {
		return o.Op == op && o.Condition != "" && (o.Outcome == Won || o.Outcome == Lost)
	}
	return o.isWrite() && o.acknowledged()
}

// effectEnd is the latest time at which a write took effect.
func (o *Operation) effectEnd() int64 {
	if o.acknowledged() {
		return o.End
	}
	return forever
}
