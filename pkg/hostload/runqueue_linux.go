package hostload

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// cpuWait is how long the process's threads have been ready to run without
// getting a core so far. Where others use the machine too, warp can be the
// limit although it does not use much CPU itself.
func cpuWait() (total time.Duration) {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // that thread has just ended
		}
		if fields := bytes.Fields(data); len(fields) >= 2 { // on a core, waiting for one, turns
			if ns, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
				total += time.Duration(ns)
			}
		}
	}
	return total
}
