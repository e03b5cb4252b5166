//go:build !unix

package testlog

import "time"

// CPUTime is not known on this system.
func CPUTime() time.Duration { return 0 }
