package logcopy

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// window is the maximum of unacknowledged bytes. It is small, so that
	// figures and heartbeats do not queue behind it on a slow link.
	window = 256 << 10
	// lull is how long a partial chunk may wait for more data.
	lull = time.Second
)

// A Feed is a growing log. It is opened again for every chunk, because its name
// changes when it is complete.
type Feed struct {
	mu       sync.Mutex
	name     func() string // current name of the log
	complete bool          // the log no longer grows
}

// Growing returns the feed of a log that is being written. Its name may change.
func Growing(name func() string) *Feed { return &Feed{name: name} }

// Complete returns the feed of a complete log.
func Complete(name string) *Feed {
	return &Feed{name: func() string { return name }, complete: true}
}

// Finish marks the log as complete, under its last name.
func (f *Feed) Finish(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.name, f.complete = func() string { return name }, true
}

// State returns the name of the log, and whether it is complete.
func (f *Feed) State() (name string, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name(), f.complete
}

// read returns the chunk at offset, and whether the log ends with it.
func (f *Feed) read(offset int64, buf []byte) (n int, end bool, err error) {
	name, complete := f.State()
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) && !complete {
		return 0, false, nil // it is being renamed; try again
	}
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	n, err = file.ReadAt(buf, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	return n, complete && errors.Is(err, io.EOF), nil
}

// Sum returns length and digest of a complete log.
func (f *Feed) Sum() (int64, []byte, error) {
	name, _ := f.State()
	file, err := os.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	return n, h.Sum(nil), err
}

// A Pump sends a feed over one connection, no faster than it is acknowledged.
type Pump struct {
	feed   *Feed
	offset int64                       // of the next chunk
	send   func(parts ...[]byte) error // sends one message
	quiet  func() bool                 // do not send now

	mu    sync.Mutex
	acked int64
	wake  chan struct{}
}

// NewPump returns a pump that sends from offset on, except while quiet, which may be nil, returns true.
func NewPump(f *Feed, offset int64, send func(parts ...[]byte) error, quiet func() bool) *Pump {
	if quiet == nil {
		quiet = func() bool { return false }
	}
	return &Pump{feed: f, offset: offset, acked: offset, send: send, quiet: quiet, wake: make(chan struct{}, 1)}
}

// Ack reads an acknowledgement. A nil pump has sent nothing.
func (p *Pump) Ack(body []byte) error {
	offset, err := readAck(body)
	if err != nil || p == nil {
		return errAck
	}
	p.mu.Lock()
	p.acked = max(p.acked, offset)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

func (p *Pump) unacknowledged() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset - p.acked
}

// Run sends until everything is sent, sending fails, or ctx ends.
func (p *Pump) Run(ctx context.Context) error {
	buf := make([]byte, chunkSize)
	waited := time.Now()
	for ctx.Err() == nil {
		if p.unacknowledged() >= window || p.quiet() {
			p.wait(ctx, 100*time.Millisecond)
			continue
		}
		n, end, err := p.feed.read(p.offset, buf)
		if err != nil {
			return err
		}
		if n == len(buf) || n > 0 && (end || time.Since(waited) >= lull) {
			if err := p.send(chunkHead(p.offset, buf[:n]), buf[:n]); err != nil {
				return err
			}
			p.offset += int64(n)
			waited = time.Now()
			continue
		}
		if end {
			return nil
		}
		p.wait(ctx, 200*time.Millisecond)
	}
	return nil
}

func (p *Pump) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.wake:
	case <-ctx.Done():
	}
}
