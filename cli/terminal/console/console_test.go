package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"warp/cli/terminal/redact"
)

// An error is one line, unless it goes to a terminal that is too narrow for it.
func TestPrintError(t *testing.T) {
	t.Parallel()
	hide := redact.New(nil, func(string) (string, bool) { return "", false })
	err := errors.New("the store\nhas ended the connection; is it running?")
	for columns, want := range map[int]string{
		0:  "warp: error: the store has ended the connection; is it running?\n",
		63: "warp: error: the store has ended the connection; is it running?\n",
		40: "warp: error: the store has ended the\nconnection; is it running?\n",
	} {
		var said bytes.Buffer
		PrintError(&said, hide, err, columns)
		if said.String() != want {
			t.Errorf("on %d columns: %q, want %q", columns, said.String(), want)
		}
	}
}

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

// A note on a terminal is broken at blanks, and nowhere else.
func TestNoteFitsTerminal(t *testing.T) {
	t.Parallel()
	const text = "Benchmark data written to a file with a name-that-is-as-long-as-it-is, which is long"
	for columns, want := range map[int]string{
		0:   "warp: " + text + "\n",
		200: "warp: " + text + "\n",
		60:  "warp: Benchmark data written to a file with a\nname-that-is-as-long-as-it-is, which is long\n",
	} {
		var said strings.Builder
		c := New(Streams{Err: &said}, func(string) (string, bool) { return "", false }, Options{}, &redact.Redactor{})
		c.columns = func() int { return columns }
		c.Notef("%s", text)
		if said.String() != want {
			t.Errorf("%d columns: %q", columns, said.String())
		}
	}
}
