//go:build !linux

package bench

import "time"

func exactSleep(d time.Duration) { time.Sleep(d) }
