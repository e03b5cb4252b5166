package replay

import (
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
	"warp/pkg/stats"
)

// OnTime is how late a request may be sent and still count as on time.
const OnTime = time.Millisecond

// A Fidelity counts how well a replay keeps the times of its log. It is a sink of the run's records.
type Fidelity struct {
	onTime uint64
	delays stats.Histogram
}

// Write counts the requests that had a due time.
func (f *Fidelity) Write(batch []oplog.Record) error {
	for i := range batch {
		r := &batch[i]
		if r.Due == 0 {
			continue // of the preparation, or a part of another one
		}
		delay := max(r.Lag(), 0)
		if delay <= OnTime {
			f.onTime++
		}
		f.delays.Add(delay)
	}
	return nil
}

// Flush does nothing.
func (f *Fidelity) Flush() error { return nil }

// Report returns the figures of a replay.
func (f *Fidelity) Report(h *oplog.Replay) *results.Replay {
	r := &results.Replay{
		Log: h.Log, Run: h.Run, Speed: h.Speed, Requests: h.Requests, Sent: int64(f.delays.Count()), OnTime: int64(f.onTime),
		OnTimeMS: float64(OnTime) / float64(time.Millisecond), Delay: results.StatsOf(&f.delays),
		NotSent: append([]oplog.NotSent{}, h.NotSent...), AssumedSizes: h.AssumedSizes, AssumedBytes: h.AssumedBytes,
	}
	left := r.Requests - r.Sent
	for _, n := range r.NotSent {
		left -= n.Count
	}
	if left > 0 {
		r.NotSent = append(r.NotSent, oplog.NotSent{Why: "the replay ended early", Count: left})
	}
	return r
}
