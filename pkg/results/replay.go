package results

import "warp/pkg/oplog"

// Replay says how well a replay repeated the requests of its log.
type Replay struct {
	Log          string          `json:"log"`                     // name of its file
	Run          string          `json:"run"`                     // its run
	Speed        float64         `json:"speed"`                   // 2 = the requests were due twice as fast
	Requests     int64           `json:"requests"`                // of the log's measured part
	Sent         int64           `json:"sent"`                    // requests that were sent, whether or not they succeeded
	OnTime       int64           `json:"on_time"`                 // requests that were sent no later than on_time_ms after they were due
	OnTimeMS     float64         `json:"on_time_ms"`              // limit of on_time
	Delay        *Stats          `json:"delay_ms"`                // how much later than due requests were sent; null if none was
	NotSent      []oplog.NotSent `json:"not_sent"`                // the other requests, by operation and reason
	AssumedSizes int64           `json:"assumed_sizes,omitempty"` // objects whose size the log does not show
	AssumedBytes int64           `json:"assumed_bytes,omitempty"` // the size that they were given
}

// Share returns the share of all requests, from 0 to 1.
func (r *Replay) Share(n int64) float64 {
	if r.Requests == 0 {
		return 0
	}
	return float64(n) / float64(r.Requests)
}
