//go:build unix

package main

import (
	"os"
	"syscall"
)

// maxRSS is a finished process's largest resident set in MiB, as Linux counts it.
func maxRSS(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(u.Maxrss) / 1024
}
