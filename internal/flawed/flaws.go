package flawed

import "time"

// A Flaw is what a store does wrong, or does in a way that may be mistaken for wrong. "" is a correct
// store.
type Flaw string

// Flaws of stores that break a promise.
const (
	IgnoredConditions Flaw = "ignored-conditions" // conditions of writes are ignored
	LateWrites        Flaw = "late-writes"        // a condition is checked, and 2 ms later the object is written
	LostWrites        Flaw = "lost-writes"        // one acknowledged write in 10,000 is not made
	StaleHost         Flaw = "stale-host"         // the last host reads what was current 200 ms ago
	StaleListings     Flaw = "stale-listings"     // listings show what was there 500 ms ago
	MixedBodies       Flaw = "mixed-bodies"       // while an object is overwritten, its second half is of the old version
	MixedParts        Flaw = "mixed-parts"        // an object of several parts has its last part from the upload before
	EarlyParts        Flaw = "early-parts"        // parts of an upload are readable before it is completed
	SkippedDeletions  Flaw = "skipped-deletions"  // one acknowledged deletion in 100 is not made
	SimilarETags      Flaw = "similar-etags"      // If-Match of a write compares only the first 8 characters
	LostCompletions   Flaw = "lost-completions"   // a completed upload in parts does not replace an existing object
	StaleRanges       Flaw = "stale-ranges"       // ranges are of what was current 200 ms ago
)

// Behaviour that breaks no promise.
const (
	Conflicts       Flaw = "conflicts"        // every conditional write is answered with 409
	DroppedAnswers  Flaw = "dropped-answers"  // after one write in 20 the connection is closed without an answer
	DelayedWrites   Flaw = "delayed-writes"   // one upload in 200 has no answer, and takes effect 2 s after the client gave up
	Busy            Flaw = "busy"             // one request in 10 is answered with 503 SlowDown
	RepeatedWrites  Flaw = "repeated-writes"  // a proxy repeats one write in 20, and passes on the second answer
	ErrorsIn200     Flaw = "errors-in-200"    // completed uploads are answered with 200, and a document that may be an error
	UnknownRequests Flaw = "unknown-requests" // conditions of writes are answered with 501
	Resets          Flaw = "resets"           // one connection in 20 requests is reset, before or after the store has done what was asked
	Pauses          Flaw = "pauses"           // every 5 s, the store does nothing for a second
)

// A Kind describes a flaw.
type Kind struct {
	Flaw Flaw
	// Breaks lists the properties that warp consistency must find violated, at least one of them;
	// nil = none may be.
	Breaks []string
	// Hosts is the min number of hosts that show the flaw.
	Hosts int
}

// Kinds lists all flaws, the correct store first.
func Kinds() []Kind {
	const create, register, remove, complete = "create", "register", "delete", "complete"
	const read, list, whole = "read-after-write", "list-after-write", "whole"
	return []Kind{
		{"", nil, 1},
		{IgnoredConditions, []string{create, register, remove, complete}, 1},
		{LateWrites, []string{create, register, remove, complete}, 1},
		{LostWrites, []string{read, list, register, create, complete}, 1},
		{StaleHost, []string{read}, 2},
		{StaleListings, []string{list}, 1},
		{MixedBodies, []string{whole, register, read}, 1},
		{MixedParts, []string{whole}, 1},
		{EarlyParts, []string{whole}, 1},
		{SkippedDeletions, []string{read, list}, 1},
		{SimilarETags, []string{register, remove}, 1},
		{LostCompletions, []string{read}, 1},
		{StaleRanges, []string{read}, 1},
		{Conflicts, nil, 1},
		{DroppedAnswers, nil, 1},
		{DelayedWrites, nil, 1},
		{Busy, nil, 1},
		{RepeatedWrites, nil, 1},
		{ErrorsIn200, nil, 1},
		{UnknownRequests, nil, 1},
		{Resets, nil, 1},
		{Pauses, nil, 1},
	}
}

// Durations and rates of the flaws.
const (
	checkToWrite = 2 * time.Millisecond
	overwriting  = 3 * time.Millisecond
	hostLag      = 200 * time.Millisecond
	listLag      = 500 * time.Millisecond
	writeDelay   = 2 * time.Second

	lostOneIn    = 10_000
	skippedOneIn = 100
	droppedOneIn = 20
	delayedOneIn = 200
	busyOneIn    = 10
	repeatOneIn  = 20
	resetOneIn   = 20

	comparedChars = 8

	pauseEvery = 5 * time.Second
	pauseFor   = time.Second
)

// happens reports whether the flaw shows now, which it does once in each n calls, at a place that looks
// random but is the same in all stores.
func (s *Store) happens(f Flaw, n uint64) bool {
	if s.flaw != f {
		return false
	}
	call := s.calls.Add(1) - 1
	x := (call/n + 1) * 0x9e3779b97f4a7c15 // SplitMix64
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	if call%n != (x^x>>31)%n {
		return false
	}
	s.shown.Add(1)
	return true
}

// does reports whether the store always has the flaw, and counts how often it shows.
func (s *Store) does(f Flaw) bool {
	if s.flaw != f {
		return false
	}
	s.shown.Add(1)
	return true
}
