package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A bar that rests and goes on is one, whose time is that in which something was done.
func TestBarRests(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	now := time.Now()
	c := &console{errw: &said, hide: newRedactor(nil, noEnv), now: func() time.Time { return now }}
	b := c.startBar("Cleaning up", "objects", 0, time.Hour)
	b.add(2000)
	now = now.Add(2 * time.Second)
	b.rest()
	now = now.Add(time.Minute)
	b.rest()
	b.resume()
	b.add(270)
	now = now.Add(time.Second)
	b.rest()
	now = now.Add(time.Minute)
	b.finish()
	if want := "Cleaning up: 2270 objects in 3.0s (757 objects/s)\n"; !strings.HasSuffix(said.String(), want) || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("%q, want %q", said.String(), want)
	}
}

// The total of what many clients do grows as they begin; one that is not known is not said.
func TestBarTotal(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := &console{errw: &said, hide: newRedactor(nil, noEnv), now: time.Now, json: true}
	b := c.startBar("Preparing", "objects", 4400, time.Hour)
	b.add(5000)
	b.total.Store(5000)
	if line := b.line(100, time.Second); !strings.Contains(line, "100%  5000/5000") {
		t.Errorf("%q", line)
	}
	b.finish()
	if !strings.Contains(said.String(), `"done":5000,"total":5000,`) {
		t.Errorf("%q", said.String())
	}
	said.Reset()
	b = c.startBar("Cleaning up", "objects", 0, time.Hour)
	b.add(5000)
	b.finish()
	if strings.Contains(said.String(), "total") || !strings.Contains(said.String(), `"done":5000,`) {
		t.Errorf("%q", said.String())
	}
}

// Who ends warp at once is told what is left, once, and is not kept waiting by whoever does not read.
func TestParting(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	c := &console{errw: &said, hide: newRedactor(nil, noEnv), quiet: true}
	c.part()
	text := func() string { return "something is left" }
	c.parting.Store(&text)
	c.part()
	if got := said.String(); got != "warp: warning: something is left\n" {
		t.Errorf("%q", got)
	}
	c.mu.Lock() // somebody writes, and never ends
	defer c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.part(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("it waits")
	}
}
