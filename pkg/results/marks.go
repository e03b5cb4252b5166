package results

import "time"

// A MarkReport says what was done to the store and how the run went before and
// after it. All operations count together.
type MarkReport struct {
	At          time.Time  `json:"at"`
	Text        string     `json:"text"`
	Before      *MarkPhase `json:"before"`        // from the mark before it, or the begin of the window; null = there is no time between them
	During      *MarkPhase `json:"during"`        // to the recovery, or to the next mark if that is earlier; null where it recovered at once
	After       *MarkPhase `json:"after"`         // from the recovery to the next mark or the end of the window; null where there is no such time
	LongestGapS *float64   `json:"longest_gap_s"` // without a successful request, up to the next mark or the end of the window; null outside of the window
	RecoveryS   *float64   `json:"recovery_s"`    // until the throughput was back; null = it was not, or it is unknown
}

// A MarkPhase is a time before or after a mark.
type MarkPhase struct {
	Seconds     float64  `json:"duration_s"`
	Requests    uint64   `json:"requests"` // failed ones included
	Errors      uint64   `json:"errors"`
	ObjectsPerS float64  `json:"objects_per_s"`
	BytesPerS   float64  `json:"bytes_per_s"`
	P99         *float64 `json:"p99_ms"` // service time of successful requests; null where there is none
}

// RecoverySpan is the time over which the throughput must be back.
const RecoverySpan = 5 * time.Second

// EndsTooSoon reports whether the window ends before a recovery after the mark
// could be seen.
func (r *Report) EndsTooSoon(m *MarkReport) bool {
	var end time.Time // of the window, which all operations share
	for i := range r.Groups {
		if r.Groups[i].WindowEnd.After(end) {
			end = r.Groups[i].WindowEnd
		}
	}
	return !end.IsZero() && end.Sub(m.At) < RecoverySpan
}
