//go:build !unix

package hostload

import "time"

func cpuTime() time.Duration { return 0 } // 0 = not known
func maxRSS() int64          { return 0 }
