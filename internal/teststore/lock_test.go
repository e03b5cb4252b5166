package teststore

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"warp/internal/check"
)

// Only one process holds the lock. Another waits for it until its context ends.
func TestLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock here")
	}
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, func() { t.Error("a free lock was waited for") })
	check.OK(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	waited := false
	if _, err := lock(ctx, path, func() { waited = true }); !errors.Is(err, context.DeadlineExceeded) || !waited {
		t.Errorf("a held lock gave %v, waited %v", err, waited)
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	second, err := lock(t.Context(), path, func() {})
	check.OK(t, err)
	second()
}
