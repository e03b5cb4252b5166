//go:build !unix

package main

import (
	"os"
	"time"
)

func maxRSS(*os.ProcessState) float64 { return 0 } // not known

var began = time.Now()

// cpuTime is not known here; this process has nothing else to do.
func cpuTime() time.Duration { return time.Since(began) }
