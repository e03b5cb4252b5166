package fleet

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
)

// A wire is a TCP proxy that a test can do things to.
type wire struct {
	addr string

	mu    sync.Mutex
	held  bool
	free  chan struct{} // closed while data may pass
	conns map[net.Conn]struct{}
	seen  []byte // everything that passed
	spoil func(toServer bool, data []byte) []byte
	rate  int // bytes per second from the server; 0 = no limit
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	w := &wire{addr: l.Addr().String(), free: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(w.free)
	t.Cleanup(func() { _ = l.Close(); w.release(); w.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.join(c, target)
		}
	}()
	return w
}

func (w *wire) join(c net.Conn, target string) {
	defer c.Close()
	w.pass()
	s, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer s.Close()
	w.mu.Lock()
	w.conns[c], w.conns[s] = struct{}{}, struct{}{}
	w.mu.Unlock()
	done := make(chan struct{}, 2)
	go w.copy(s, c, true, done)
	go w.copy(c, s, false, done)
	<-done
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	delete(w.conns, s)
}

func (w *wire) copy(dst io.Writer, src io.Reader, toServer bool, done chan<- struct{}) {
	defer func() { done <- struct{}{} }()
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			w.pass()
			w.mu.Lock()
			data := buf[:n]
			w.seen = append(w.seen, data...)
			if w.spoil != nil {
				data = w.spoil(toServer, data)
			}
			rate := w.rate
			w.mu.Unlock()
			if rate > 0 && !toServer {
				time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
			}
			if _, err := dst.Write(data); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while data is held.
func (w *wire) pass() {
	w.mu.Lock()
	free := w.free
	w.mu.Unlock()
	<-free
}

// hold keeps everything from passing, as a partition does.
func (w *wire) hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.held {
		w.held, w.free = true, make(chan struct{})
	}
}

func (w *wire) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held {
		w.held = false
		close(w.free)
	}
}

// cut breaks all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
}

// cutOften breaks connections again and again until rest is called, each one after
// it was of some use: on a slow machine, a handshake takes its time.
func (w *wire) cutOften() (rest func()) {
	const some = 6 << 10 // more than a handshake
	stop := make(chan struct{})
	var cutting sync.WaitGroup
	cutting.Go(func() {
		for last := w.passed(); ; {
			select {
			case <-stop:
				return
			case <-time.After(150 * time.Millisecond):
			}
			if now := w.passed(); now-last > some {
				w.cut()
				last = now
			}
		}
	})
	return func() {
		close(stop)
		cutting.Wait()
	}
}

// passed is how many bytes have passed.
func (w *wire) passed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// through makes a machine reachable by the wire.
func through(t *testing.T, m *machine) (*wire, *machine) {
	w := newWire(t, m.addr)
	behind := *m
	behind.addr = w.addr
	return w, &behind
}
