package bench

import "time"

// Limits of the time that a run waits for the first row of each worker.
const (
	shortestWarmUp = 2 * time.Second
	longestWarmUp  = 10 * time.Second
)

// maxWarmUp returns how long a run of the given duration (0 = without end) waits for
// its workers to become warm. A worker that is stuck cannot delay it further.
func maxWarmUp(duration time.Duration) time.Duration {
	if duration == 0 {
		return longestWarmUp
	}
	return min(max(shortestWarmUp, duration/20), longestWarmUp, duration/2)
}

// MaxWarmUp returns the time from the start after which the window begins even if
// workers have no row yet.
func (o *Options) MaxWarmUp() time.Duration { return max(o.Warmup, maxWarmUp(o.Duration)) }
