package results

import "time"

// A MarkReport describes a mark and the run before and after it, for all operations together.
type MarkReport struct {
	At          time.Time  `json:"at"`
	Text        string     `json:"text"`
	Before      *MarkPhase `json:"before"`        // from the previous mark, or the start of the window; null = no time between them
	During      *MarkPhase `json:"during"`        // to the recovery, or to the next mark if that is earlier; null if it recovered at once
	After       *MarkPhase `json:"after"`         // from the recovery to the next mark or the end of the window; null if there is no such time
	LongestGapS *float64   `json:"longest_gap_s"` // without a successful request, up to the next mark or the end of the window; null outside the window

	// The recovery is between these two. null = there was none, or it is unknown; 0 = no drop.
	RecoveryFromS *float64 `json:"recovery_from_s"`
	RecoveryS     *float64 `json:"recovery_s"`

	DropS    *float64 `json:"drop_s,omitempty"`    // until the drop that it recovered from; missing if there was none
	RelapseS *float64 `json:"relapse_s,omitempty"` // until the next drop after the recovery, before the next mark; missing if there was none
	Noise    bool     `json:"noise,omitempty"`     // there was a drop, not distinguishable from noise
}

// A MarkPhase is a time before or after a mark.
type MarkPhase struct {
	Seconds     float64  `json:"duration_s"`
	Requests    uint64   `json:"requests"` // including failed ones
	Errors      uint64   `json:"errors"`
	ObjectsPerS float64  `json:"objects_per_s"`
	BytesPerS   float64  `json:"bytes_per_s"`
	P99         *float64 `json:"p99_ms"` // service time of successful requests; null if there are none
}

// RecoverySpan is the time for which the throughput must have recovered.
const RecoverySpan = 5 * time.Second

// EndsTooSoon reports whether the window ends too soon after the mark to show a recovery.
func (r *Report) EndsTooSoon(m *MarkReport) bool {
	var end time.Time // of the window, which all operations share
	for i := range r.Groups {
		if r.Groups[i].WindowEnd.After(end) {
			end = r.Groups[i].WindowEnd
		}
	}
	return !end.IsZero() && end.Sub(m.At) < RecoverySpan
}
