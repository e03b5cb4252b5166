package calibrate

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/s3mem"
)

// A time that is over before a request can be sent is tried again.
func TestCalibrationWithoutRequests(t *testing.T) {
	t.Parallel()
	store, err := s3mem.StartNull(s3mem.NullOptions{Size: 1 << 10})
	check.OK(t, err)
	defer store.Close()
	var c Report
	err = c.measure(t.Context(), store.Addr(), "get", 1<<10, 2, time.Nanosecond)
	if !errors.Is(err, ErrNoRequests) || !strings.Contains(err.Error(), "5 times for 1ns") || len(c.Points) > 0 {
		t.Errorf("%v, %+v", err, c)
	}
	if n := store.Count("PUT"); n < 5 {
		t.Errorf("%d uploads before downloads", n)
	}
	if err := c.measure(t.Context(), store.Addr(), "get", 1<<10, 2, time.Second); err != nil || len(c.Points) != 1 {
		t.Errorf("%v, %+v", err, c)
	}
}

// A null store that does not end by itself is ended.
func TestNullStoreEnds(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip(err)
	}
	began := time.Now()
	err := withNullStore(exec.Command("sh", "-c", "echo 127.0.0.1:1; exec sleep 600"), func(addr string) error {
		if addr != "127.0.0.1:1" {
			t.Errorf("it listens at %q", addr)
		}
		return nil
	})
	if err != nil || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
