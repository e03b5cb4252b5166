//go:build !linux

package pacing

import (
	"context"
	"time"

	"warp/internal/pause"
)

// An alarm wakes a goroutine, as exactly as the runtime's timers do.
type alarm struct{}

func newAlarm() (*alarm, error) { return &alarm{}, nil }

func (a *alarm) close() {}

// wait returns after d, or false when ctx ends before.
func (a *alarm) wait(ctx context.Context, d time.Duration) bool { return pause.For(ctx, d) }
