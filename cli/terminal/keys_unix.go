//go:build unix

package terminal

import (
	"errors"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Keys reads single keys from a terminal. Ctrl-C, Ctrl-Z and Ctrl-\ stay
// signals. Nothing is read, and the terminal is left alone, while the process
// is in the background.
type Keys struct {
	fd      int
	pressed func(key rune)
	wake    *os.File // closed at the end

	mu             sync.Mutex
	saved          *unix.Termios // as the terminal was found; nil while it is that way
	paused, closed bool
}

// ReadKeys calls pressed for each key, one at a time, until Close. What was
// typed before is thrown away. It returns nil where it cannot read keys from fd.
func ReadKeys(fd int, pressed func(key rune)) *Keys {
	woken, wake, err := os.Pipe()
	if err != nil {
		return nil
	}
	k := &Keys{fd: fd, pressed: pressed, wake: wake}
	if foreground(fd) {
		flushInput(fd)
		if err = k.enter(); err != nil {
			woken.Close()
			wake.Close()
			return nil
		}
	}
	go k.read(woken)
	return k
}

// Close gives the terminal back as it was. A key that is being handled is not
// waited for.
func (k *Keys) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.closed = true
		k.restore()
		k.wake.Close()
	}
}

// Pause gives the terminal back until Resume.
func (k *Keys) Pause() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paused = true
	k.restore()
}

// Resume reads keys again.
func (k *Keys) Resume() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paused = false
}

// restore gives the terminal back. The lock is held.
func (k *Keys) restore() {
	if k.saved != nil && foreground(k.fd) {
		_ = unix.IoctlSetTermios(k.fd, setTermios, k.saved)
	}
	k.saved = nil
}

// errPaused reports that reading is paused.
var errPaused = errors.New("paused")

// enter has the terminal hand on each key at once, without showing it.
func (k *Keys) enter() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.paused {
		return errPaused
	}
	now, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil {
		return err
	}
	if now.Lflag&(unix.ICANON|unix.ECHO) == 0 && k.saved != nil {
		return nil
	}
	if k.saved == nil {
		saved := *now
		k.saved = &saved
	}
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(k.fd, setTermios, now)
}

// foregroundInterval is how often, in ms, warp checks whether a shell has put it into the foreground.
const foregroundInterval = 250

func (k *Keys) read(woken *os.File) {
	defer woken.Close()
	defer k.Close()
	var text []byte
	for {
		events := []unix.PollFd{{Fd: int32(woken.Fd()), Events: unix.POLLIN}, {Fd: int32(k.fd), Events: unix.POLLIN}}
		if !foreground(k.fd) || k.enter() != nil {
			events = events[:1]
		}
		_, err := unix.Poll(events, foregroundInterval)
		if err != nil && err != unix.EINTR || events[0].Revents != 0 {
			return
		}
		if len(events) < 2 || events[1].Revents == 0 || !foreground(k.fd) {
			continue
		}
		var b [256]byte
		n, err := unix.Read(k.fd, b[:])
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			return // the terminal is gone
		}
		text = k.hand(append(text, b[:n]...))
	}
}

// hand calls pressed for the keys in text and returns the incomplete rest.
func (k *Keys) hand(text []byte) (rest []byte) {
	for len(text) > 0 {
		if n := sequence(text); n > 0 {
			text = text[n:]
			continue
		}
		if !utf8.FullRune(text) {
			break
		}
		key, n := utf8.DecodeRune(text)
		text = text[n:]
		k.pressed(key)
	}
	return text
}

// sequence is the length of the key at the beginning of text that is more than
// a character, such as an arrow; 0 where it is a character. Terminals write such
// a key at once, so an escape at the end is the key of that name.
func sequence(text []byte) int {
	const escape = '\x1b'
	if text[0] != escape || len(text) == 1 {
		return 0
	}
	switch text[1] {
	case '[': // up to its last character
		for i, c := range text[2:] {
			if c >= '@' && c <= '~' {
				return i + 3
			}
		}
		return len(text)
	case 'O':
		return min(3, len(text))
	}
	return 2
}

// foreground reports whether the terminal is the process's to read from.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
