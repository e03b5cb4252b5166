package conformance

import (
	"os"
	"syscall"
)

// maxRSS returns the peak resident memory of an ended process, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}
