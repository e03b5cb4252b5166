package conformance

import (
	"os"
	"syscall"
)

// maxRSS is the most memory that an ended process had resident, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss) << 10
	}
	return 0
}
