package bench

import (
	"fmt"

	"warp/pkg/hostload"
)

// otherFiles is the number of open files that are not connections of the load: the log,
// profiles, connections to metric receivers, and files of the runtime.
const otherFiles = 32

// checkFileLimit refuses a run that would run out of files for its connections.
func (r *Runner) checkFileLimit() error {
	hosts := len(r.Client.Endpoints())
	connections := r.Options.Concurrency
	if op, ok := r.Op.(multiplexer); ok {
		connections *= op.requestsAtOnce()
	}
	if hosts > 1 {
		connections *= 2 // as many are idle, at other hosts
	}
	return FileLimit(connections+hosts, r.Options.Concurrency)
}

// FileLimit returns an error if the process may not have that many connections.
func FileLimit(connections, concurrency int) error {
	need, limit := uint64(connections+otherFiles), hostload.OpenFiles()
	if limit == 0 || need <= limit {
		return nil
	}
	return fmt.Errorf("--concurrent=%d needs up to %d open files, and this process may have %d: raise that limit (ulimit -n %d), or use a smaller --concurrent",
		concurrency, need, limit, need)
}
