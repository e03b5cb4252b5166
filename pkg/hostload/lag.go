package hostload

import (
	"math"
	"time"
)

// A Lag records how late the requests of an open loop were sent for which a worker was free, or would have been if the
// client had not delayed its earlier requests. Such delays are the client's own.
type Lag struct {
	counts [lagBuckets]uint64
	n      uint64
}

const (
	lagSteps   = 8             // per doubling, so a percentile is at most 9 % too high
	lagBuckets = 30 * lagSteps // from 1 µs to 18 minutes
	minLags    = 100           // with fewer, the 99th percentile is the maximum
)

// Add records one request.
func (l *Lag) Add(d time.Duration) {
	at := 0
	if us := float64(d) / float64(time.Microsecond); us > 1 {
		at = min(int(math.Ceil(lagSteps*math.Log2(us))), lagBuckets-1)
	}
	l.counts[at]++
	l.n++
}

// P99 returns the 99th percentile in seconds, rounded up to the next step, or 0 if there are too
// few requests.
func (l *Lag) P99() float64 {
	if l.n < minLags {
		return 0
	}
	var seen uint64
	at := 0
	for seen = l.counts[0]; 100*seen < 99*l.n; seen += l.counts[at] {
		at++
	}
	return math.Exp2(float64(at)/lagSteps) * time.Microsecond.Seconds()
}
