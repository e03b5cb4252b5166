package console

import (
	"bytes"
	"testing"
	"time"

	"warp/cli/terminal/redact"
)

// Ending warp at once prints what is left, once, and does not wait for a reader that does not read.
func TestLastWarning(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := &Console{Err: &said, Hide: redact.New(nil, func(string) (string, bool) { return "", false }), Quiet: true}
	c.PrintLastWarning()
	text := func() string { return "something is left" }
	c.SetLastWarning(text)
	c.PrintLastWarning()
	if got := said.String(); got != "warp: warning: something is left\n" {
		t.Errorf("%q", got)
	}
	c.mu.Lock() // somebody writes, and never ends
	defer c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.PrintLastWarning(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}
