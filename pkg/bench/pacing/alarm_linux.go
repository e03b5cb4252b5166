package pacing

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm wakes a goroutine at a time that is exact to some 50 µs. The
// runtime's own timers may be late by a millisecond, which is as long as many
// requests take; a sleep in the kernel would keep a processor from the others.
// A timer that is a file does neither, since the poller wakes up for it.
type alarm struct {
	file *os.File
	fd   int
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{file: os.NewFile(uintptr(fd), "timer"), fd: fd}, nil
}

func (a *alarm) close() { _ = a.file.Close() }

// wait returns after d, or false when ctx ends or the alarm is closed before.
func (a *alarm) wait(ctx context.Context, d time.Duration) bool {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if unix.TimerfdSettime(a.fd, 0, &spec, nil) != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = a.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err == nil
}
