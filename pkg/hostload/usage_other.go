//go:build !unix

package hostload

import "time"

// CPUTime is not known on this system.
func CPUTime() time.Duration { return 0 }

func maxRSS() int64 { return 0 }
