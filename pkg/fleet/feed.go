package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"

	"warp/pkg/fleet/transport"
)

const (
	chunkSize = 32 << 10
	// window is what may be on its way without an acknowledgement. It is small,
	// so that figures and heartbeats are not stuck behind it on a slow link.
	window = 256 << 10
	// lull is how long a piece that is not full may wait for more.
	lull = time.Second
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A feed is the log of a job as it grows. It is opened anew for every piece,
// since its name changes when it is complete.
type feed struct {
	mu       sync.Mutex
	name     func() string // where the log is now
	complete bool          // nothing will be added
}

// read returns the piece at offset, and whether the log ends with it.
func (f *feed) read(offset int64, buf []byte) (n int, end bool, err error) {
	f.mu.Lock()
	complete, name := f.complete, f.name()
	f.mu.Unlock()
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) && !complete {
		return 0, false, nil // it is being renamed; look again
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

// finish says that the log is complete and where it is now.
func (f *feed) finish(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.name, f.complete = func() string { return name }, true
}

// sum is the length and the digest of a complete log.
func (f *feed) sum() (int64, []byte, error) {
	f.mu.Lock()
	name := f.name()
	f.mu.Unlock()
	file, err := os.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	return n, h.Sum(nil), err
}

// A pump sends a feed over one connection, no faster than it is acknowledged.
type pump struct {
	feed  *feed
	ch    *transport.Conn
	quiet func() bool // do not send now

	mu    sync.Mutex
	acked int64
	wake  chan struct{}
}

func newPump(f *feed, ch *transport.Conn, offset int64, quiet func() bool) *pump {
	return &pump{feed: f, ch: ch, acked: offset, wake: make(chan struct{}, 1), quiet: quiet}
}

func (p *pump) ack(offset int64) {
	p.mu.Lock()
	p.acked = max(p.acked, offset)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pump) unacknowledged(offset int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return offset - p.acked
}

// run sends from offset on until everything is sent or the connection ends.
func (p *pump) run(ctx context.Context, offset int64) error {
	buf := make([]byte, chunkSize)
	waited := time.Now()
	for ctx.Err() == nil {
		if p.unacknowledged(offset) >= window || p.quiet() {
			p.wait(ctx, 100*time.Millisecond)
			continue
		}
		n, end, err := p.feed.read(offset, buf)
		if err != nil {
			return err
		}
		if n == len(buf) || n > 0 && (end || time.Since(waited) >= lull) {
			if err := p.ch.SendBytes(kindChunk, chunkHead(offset, buf[:n]), buf[:n]); err != nil {
				return err
			}
			offset += int64(n)
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

func (p *pump) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.wake:
	case <-ctx.Done():
	}
}

const chunkHeadSize = 12

func chunkHead(offset int64, data []byte) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, chunkHeadSize), uint64(offset))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(data, castagnoli))
}

// readChunk takes a piece apart and checks it.
func readChunk(body []byte) (offset int64, data []byte, err error) {
	if len(body) <= chunkHeadSize || len(body) > chunkHeadSize+chunkSize {
		return 0, nil, fmt.Errorf("a piece of the log has %d bytes", len(body))
	}
	offset, data = int64(binary.BigEndian.Uint64(body)), body[chunkHeadSize:]
	if crc32.Checksum(data, castagnoli) != binary.BigEndian.Uint32(body[8:]) {
		return 0, nil, errors.New("a piece of the log is damaged")
	}
	return offset, data, nil
}
