//go:build !linux

package recording

import "time"

// The time while the machine was suspended shows as a wall clock that moved on
// without the monotonic one.
var processStart = time.Now()

func suspended() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(processStart.Round(0)) - now.Sub(processStart)
}
