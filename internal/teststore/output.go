package teststore

import (
	"bytes"
	"sync"
)

// QuickExit is an environment variable for processes that run a test binary. With the race detector
// they would otherwise wait a second at each exit.
const QuickExit = "GORACE=atexit_sleep_ms=0"

// An Output is the output of a process so far, which may still be running.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
