package teststore

import (
	"bytes"
	"sync"
)

// QuickExit is for the environment of processes of a test's own binary: with the race detector it would wait a second
// at each exit, in which nobody does anything any more.
const QuickExit = "GORACE=atexit_sleep_ms=0"

// An Output is what a process has written so far, to be looked at while it runs.
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
