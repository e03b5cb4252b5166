//go:build !unix

package oplog

import "time"

func cpuTime() time.Duration { return 0 }
