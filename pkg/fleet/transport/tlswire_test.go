package transport

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
)

// The types of TLS records that tests look at.
const (
	recordCipherChange = 20 // means nothing in TLS 1.3, and is not protected
	recordHandshake    = 22
	recordData         = 23
)

// A recordWire is a proxy that knows where records of TLS begin. It does to
// them what somebody without the keys can do.
type recordWire struct {
	addr string

	mu     sync.Mutex
	tamper func(toServer bool, n int, record []byte) recordFate // of the n-th record in its direction
}

// A recordFate is what becomes of a record.
type recordFate struct {
	forward [][]byte
	back    []byte // goes to whoever sent it
}

func asItIs(record []byte) recordFate { return recordFate{forward: [][]byte{record}} }

func newRecordWire(t *testing.T, target string) *recordWire {
	t.Helper()
	w := &recordWire{}
	w.addr = answering(t, func(c net.Conn) {
		defer c.Close()
		s, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer s.Close()
		done := make(chan struct{}, 2)
		go w.copy(s, c, true, done)
		go w.copy(c, s, false, done)
		<-done
	})
	return w
}

func (w *recordWire) set(tamper func(toServer bool, n int, record []byte) recordFate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tamper = tamper
}

func (w *recordWire) copy(dst, src net.Conn, toServer bool, done chan<- struct{}) {
	defer func() { done <- struct{}{} }()
	for n := 0; ; n++ {
		head := make([]byte, 5)
		if _, err := io.ReadFull(src, head); err != nil {
			return
		}
		record := append(head, make([]byte, binary.BigEndian.Uint16(head[3:]))...)
		if _, err := io.ReadFull(src, record[5:]); err != nil {
			return
		}
		w.mu.Lock()
		fate := asItIs(record)
		if w.tamper != nil {
			fate = w.tamper(toServer, n, record)
		}
		w.mu.Unlock()
		for _, r := range fate.forward {
			if _, err := dst.Write(r); err != nil {
				return
			}
		}
		if fate.back != nil {
			_, _ = src.Write(fate.back)
		}
	}
}

// middle is a man in the middle: he has a certificate of his own, ends the TLS
// of both sides, and passes on what they say.
func middle(t *testing.T, target string) (addr string) {
	t.Helper()
	config, _, err := SelfSigned()
	check.OK(t, err)
	return answering(t, func(raw net.Conn) {
		c := tls.Server(raw, config)
		defer c.Close()
		s, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", target, strangerTLS())
		if err != nil {
			return
		}
		defer s.Close()
		done := make(chan struct{}, 2)
		pass := func(dst, src net.Conn) { _, _ = io.Copy(dst, src); done <- struct{}{} }
		go pass(s, c)
		go pass(c, s)
		<-done
	})
}

// strangerTLS is how somebody without a token connects.
func strangerTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }
