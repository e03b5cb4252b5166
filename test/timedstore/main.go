//go:build linux

// Command timedstore is a null store that keeps its own times: for each GET or HEAD of an object, from the arrival of the request in the
// kernel to the system call that sends the answer. It prints its address, and when its standard input ends, the times.
package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"warp/pkg/s3mem"
)

type options struct {
	addr    string
	service time.Duration
	random  bool
	size    int64
	tls     bool
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:0", "where to listen")
	flag.DurationVar(&o.service, "service", 2*time.Millisecond, "how long each GET or HEAD of an object takes")
	flag.BoolVar(&o.random, "random", false, "service times are exponential, with that mean")
	flag.Int64Var(&o.size, "size", 1024, "bytes of a GET")
	flag.BoolVar(&o.tls, "tls", false, "serve TLS with a certificate that nobody trusts")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "timedstore:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	null, err := s3mem.StartNull(s3mem.NullOptions{Addr: "127.0.0.1:0", Size: o.size})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	var config *tls.Config
	if o.tls {
		s := httptest.NewUnstartedServer(nil) // which has a certificate
		s.StartTLS()
		config = &tls.Config{Certificates: s.TLS.Certificates}
		s.Close()
	}
	fmt.Println(l.Addr())
	log := &timeLog{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = pass(c.(*net.TCPConn), config, null.Addr(), o, log) }()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	log.mu.Lock()
	defer log.mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(log.times)
}

// A timeLog has the times of these requests, in ns.
type timeLog struct {
	mu    sync.Mutex
	times []int64
}

func (l *timeLog) add(d time.Duration) {
	l.mu.Lock()
	l.times = append(l.times, int64(d))
	l.mu.Unlock()
}

// pass passes requests on to the null store. Its answers to GET and HEAD of objects wait until the service time is over.
func pass(tcp *net.TCPConn, config *tls.Config, addr string, o *options, log *timeLog) error {
	defer tcp.Close()
	up, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer up.Close()
	in, err := newStampedConn(tcp)
	if err != nil {
		return err
	}
	var c net.Conn = in
	if config != nil {
		c = tls.Server(in, config)
	}
	var arrived atomic.Int64 // when the request that is being served arrived; 0 = another request
	go func() {
		defer up.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			arrived.Store(0)
			line, _, _ := bytes.Cut(buf[:n], []byte("\r\n"))
			reads := bytes.HasPrefix(line, []byte("GET ")) || bytes.HasPrefix(line, []byte("HEAD "))
			if reads && !bytes.Contains(line, []byte("?")) {
				arrived.Store(in.at)
			}
			if _, err := up.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := up.Read(buf)
		if err != nil {
			return err
		}
		if at := arrived.Swap(0); at != 0 {
			service := o.service
			if o.random {
				service = time.Duration(rand.ExpFloat64() * float64(service))
			}
			time.Sleep(service - time.Duration(time.Now().UnixNano()-at))
			log.add(time.Duration(time.Now().UnixNano() - at))
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// A stampedConn knows when what it has read last arrived in the kernel.
type stampedConn struct {
	*net.TCPConn
	raw syscall.RawConn
	oob []byte
	at  int64 // unix ns; 0 = unknown
}

func newStampedConn(c *net.TCPConn) (*stampedConn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	return &stampedConn{TCPConn: c, raw: raw, oob: make([]byte, 256)}, nil
}

func (c *stampedConn) Read(buf []byte) (n int, err error) {
	var control int
	waitErr := c.raw.Read(func(fd uintptr) bool {
		n, control, _, _, err = unix.Recvmsg(int(fd), buf, c.oob, unix.MSG_DONTWAIT)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err == nil {
		err = waitErr
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return 0, err
	}
	c.at = 0
	messages, err := unix.ParseSocketControlMessage(c.oob[:control])
	if err != nil || len(messages) == 0 || len(messages[0].Data) < int(unsafe.Sizeof(unix.Timespec{})) {
		return n, err
	}
	c.at = (*unix.Timespec)(unsafe.Pointer(&messages[0].Data[0])).Nano()
	return n, nil
}
