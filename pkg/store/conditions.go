package store

import (
	"context"
	"errors"
	"slices"
)

// A Condition must hold for a request, or the store refuses it. The zero Condition always holds. Not
// both fields are set.
type Condition struct {
	Absent bool   // no object of that name exists
	Is     string // the current version of the object has this token, see [Object.Token]
}

// Given reports whether there is a condition at all.
func (c Condition) Given() bool { return c != Condition{} }

// Header returns the condition as a header of HTTP, for stores whose tokens are ETags.
func (c Condition) Header() Header {
	if c.Absent {
		return Header{Name: "if-none-match", Value: "*"}
	}
	return Header{Name: "if-match", Value: `"` + c.Is + `"`}
}

// A Conditional is an [Engine] whose stores check conditions of deletions. Conditions of uploads and
// downloads are fields of [Put], [Upload] and [Get]. An engine returns [ErrUnsupported] for a
// condition that its API cannot express.
type Conditional interface {
	// DeleteIf deletes the object if the condition holds.
	DeleteIf(ctx context.Context, ref Ref, c Condition, tr *Trace) error
}

// An Outcome says what became of a write.
type Outcome uint8

// The outcomes.
const (
	Won          Outcome = iota // the store acknowledged the write
	Lost                        // the store says that the condition did not hold, or that another write was in the way
	Refused                     // the store is busy (429, 503 SlowDown); most likely nothing was written
	Unknown                     // no answer, or one that does not say: the write may take effect at any later time
	NotSupported                // the store does not know the request or its condition
	Failed                      // the write did not take effect, for a reason that conditions have no part in
)

func (o Outcome) String() string {
	return [...]string{"won", "lost", "refused", "unknown", "not supported", "failed"}[o]
}

// An Answer is a row of the answers of a store, by which errors are classified: all with that
// status and that code have the outcome.
type Answer struct {
	Status  int    // of HTTP; 0 = any
	Code    string // of the error; "" = any
	Outcome Outcome
}

// A Promise is a property of stores that can be promised, see [Contract].
type Promise string

// The promises. Their values are the names of the properties that warp checks.
const (
	Creates         Promise = "create"           // one of several creations of an object succeeds
	Updates         Promise = "register"         // an upload succeeds only if it replaces the version that it names
	Deletions       Promise = "delete"           // likewise for deletions
	Completions     Promise = "complete"         // one of several completed uploads in parts creates the object
	ReadsAfterWrite Promise = "read-after-write" // a read returns the latest acknowledged write, or a newer one
	ListsAfterWrite Promise = "list-after-write" // likewise for listings
	WholeReads      Promise = "whole"            // a read returns one version, and no mixture
)

// A Contract is what a kind of store says about writes: what its answers mean, and what it promises.
type Contract struct {
	// Answers are searched in order, before the rules that are the same for all stores.
	Answers []Answer
	// Breaks says why a property is not promised, for those that are not.
	Breaks map[Promise]string
	// Unordered says that listings have no order.
	Unordered bool
}

// Outcome returns the outcome of a write that returned err. tr has traced its requests.
func (c *Contract) Outcome(err error, tr *Trace) Outcome {
	var e *Error
	switch {
	case err == nil:
		return Won
	case errors.Is(err, ErrUnsupported):
		return NotSupported
	case !errors.As(err, &e):
		return Unknown
	}
	i := slices.IndexFunc(c.Answers, func(a Answer) bool {
		return (a.Status == 0 || a.Status == e.Status) && (a.Code == "" || a.Code == e.Code) && e.Status != 0
	})
	switch {
	case i >= 0:
		return c.Answers[i].Outcome
	case e.Status == 0 && (tr.Requests() == 0 || neverConnected(e.Code)):
		return Failed // nothing was sent
	}
	return commonOutcome(e.Status)
}

// neverConnected reports whether a code is only of errors that occur before there is a connection.
func neverConnected(code string) bool {
	return code == CodeRefused || code == CodeDNS || code == CodeConnectTimeout
}

// commonOutcome returns what a status means in HTTP, if it comes with an error. A success whose
// document is an error, or is cut off, says nothing. Of the refusals, only a request that took too
// long to arrive may have arrived after all.
func commonOutcome(status int) Outcome {
	switch {
	case status == 409 || status == 412:
		return Lost
	case status == 429:
		return Refused
	case status == 405 || status == 501:
		return NotSupported
	case status/100 == 4 && status != 408:
		return Failed
	}
	return Unknown
}

// DeleteIf is the method of [Conditional].
func (h *Host) DeleteIf(ctx context.Context, ref Ref, c Condition, tr *Trace) error {
	if e, ok := h.Engine.(Conditional); ok {
		return e.DeleteIf(ctx, ref, c, tr)
	}
	return ErrUnsupported
}

// Contract returns what this kind of store says about writes.
func (c *Client) Contract() *Contract { return &c.contract }
