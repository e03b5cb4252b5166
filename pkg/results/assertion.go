package results

import "warp/pkg/oplog"

// The results of assertions.
const (
	Passed       = "passed"
	Failed       = "failed"
	Inconclusive = "inconclusive"
	Flaky        = "flaky" // it failed, and passed when the run was repeated
)

// An Assertion is a condition for a run and its result. Measured, Low, High and the limit are in
// Unit.
type Assertion struct {
	Assertion string   `json:"assertion"`           // as it was written
	Subject   string   `json:"subject"`             // operation and metric
	Statement int      `json:"statement,omitempty"` // of a script, from 1
	Stage     bool     `json:"stage,omitempty"`     // the statement is a stage of --stages
	Result    string   `json:"result"`              // "passed", "failed", "inconclusive", or "flaky"
	Measured  *float64 `json:"measured"`            // null if there was nothing to measure
	Unit      string   `json:"unit"`
	Limit     float64  `json:"limit"`
	Low       *float64 `json:"low,omitempty"`  // 95 % interval, by a block bootstrap over pieces of the window; it describes only this run
	High      *float64 `json:"high,omitempty"` // not the next one
	Requests  uint64   `json:"requests"`       // requests behind the result

	Pieces int `json:"pieces,omitempty"` // with every: number of pieces of the window
	Held   int `json:"held,omitempty"`   // number of pieces for which it holds

	Sentence string     `json:"sentence"`            // the result in one sentence
	First    *Assertion `json:"first_run,omitempty"` // the first result, if the run was repeated
	Smaller  bool       `json:"-"`                   // smaller is better
}

// PartTitle returns the name of the statement or stage that was judged, "" if the run has none.
func (a *Assertion) PartTitle() string {
	return oplog.Statement{Number: uint16(a.Statement), Stage: a.Stage}.Title()
}
