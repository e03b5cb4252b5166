package hostload

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// threadWaits returns how long each thread of the process has been ready to run without getting a
// core so far, by its directory. Ended threads are missing, but Go ends only threads that a
// goroutine was locked to.
func threadWaits() map[string]time.Duration {
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		return nil
	}
	waits := make(map[string]time.Duration, len(threads))
	for _, thread := range threads {
		data, err := os.ReadFile(filepath.Join(thread, "schedstat"))
		if err != nil {
			continue // the thread has just ended
		}
		if fields := bytes.Fields(data); len(fields) >= 2 { // on a core, waiting for one, turns
			if ns, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
				waits[thread] = time.Duration(ns)
			}
		}
	}
	return waits
}
