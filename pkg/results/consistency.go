package results

import "time"

// Verdicts on the properties of warp consistency.
const (
	ConsistencyHeld         = "held"
	ConsistencyViolated     = "violated"
	ConsistencyNotSupported = "not supported"
	ConsistencyNotPromised  = "not promised"
	ConsistencyUndecided    = "undecided"
)

// Consistency says whether the store kept what it promises.
type Consistency struct {
	Properties   []ConsistencyProperty `json:"properties"`
	ClockErrorMS float64               `json:"clock_error_ms,omitempty"` // by which each request was widened at both ends, because clocks are not exact
	Incomplete   bool                  `json:"incomplete,omitempty"`     // the log of a client is missing or was cut off
}

// A ConsistencyProperty is the verdict on one property.
type ConsistencyProperty struct {
	Property       string      `json:"property"`         // create, register, …
	Verdict        string      `json:"verdict"`          // such as ConsistencyHeld
	Reason         string      `json:"reason,omitempty"` // missing if the property held
	Checks         int64       `json:"checks"`           // answers that were judged
	Violations     int64       `json:"violations"`       // that were found
	Undecided      int64       `json:"undecided"`        // findings that a repetition on the way explains
	Won            int64       `json:"won"`              // conditional requests that succeeded, without those before the load
	Lost           int64       `json:"lost"`             // conditional requests whose condition did not hold
	Refused        int64       `json:"refused"`          // requests that the store was too busy for
	Unknown        int64       `json:"unknown"`          // requests of which nobody knows whether they took effect
	Operations     int64       `json:"operations"`       // all requests for this property
	OperationsPerS float64     `json:"operations_per_s"`
	WonPerS        float64     `json:"won_per_s"`
	ContendedP50   float64     `json:"contended_p50_ms"` // latency of the conditional requests that won or lost
	ContendedP99   float64     `json:"contended_p99_ms"`
	Shown          []Violation `json:"shown,omitempty"` // the first violations, or findings that are undecided
}

// A Violation proves that a property does not hold.
type Violation struct {
	Rule       string         `json:"rule"` // that was broken
	Key        string         `json:"key"`
	At         time.Time      `json:"at"`                     // when the last of these operations ended
	AfterMark  string         `json:"after_mark,omitempty"`   // text of the last mark before
	AfterMarkS float64        `json:"after_mark_s,omitempty"` // seconds after it
	History    []HistoryEvent `json:"history"`                // in the order of their start
	More       int            `json:"more,omitempty"`         // operations that are left out
}

// A HistoryEvent is one request of a violation.
type HistoryEvent struct {
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Client    string    `json:"client,omitempty"`
	Thread    uint32    `json:"thread"`
	Host      string    `json:"host"`
	Op        string    `json:"op"`
	Key       string    `json:"key"`
	Condition string    `json:"condition,omitempty"`
	Sent      string    `json:"token_sent,omitempty"`
	Outcome   string    `json:"outcome"`
	Status    int       `json:"status"` // of HTTP; 0 = no answer
	Received  string    `json:"token_received,omitempty"`
	Error     string    `json:"error,omitempty"`
}
