//go:build !windows

package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTail(t *testing.T) {
	t.Parallel()
	var tail Tail
	if tail.Suffix() != "" {
		t.Errorf("no output ends a message with %q", tail.Suffix())
	}
	for range maxTail {
		_, _ = tail.Write([]byte("line\n"))
	}
	_, _ = tail.Write([]byte("warp: error: no store\n"))
	if n := len(tail.Text()); n > maxTail {
		t.Errorf("%d bytes are kept", n)
	}
	if got := tail.Suffix(); got != ": no store" {
		t.Errorf("got %q", got)
	}
}

// A command whose time is over ends with its children.
func TestRunGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	child := filepath.Join(t.TempDir(), "child")
	var output Tail
	done := make(chan error, 1)
	go func() {
		done <- RunGroup(ctx, `sh -c 'trap "echo ended; exit" TERM; : >'"'"`+child+`"'"'; while :; do sleep 0.05; done' & wait`, &output, time.Minute)
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(child); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the child did not start")
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a command that was ended has no error")
	}
	if !strings.Contains(output.Text(), "ended") {
		t.Errorf("the child was not asked to end: %q", output.Text())
	}
}
