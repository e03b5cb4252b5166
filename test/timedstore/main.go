//go:build linux

// Command timedstore is a null store that keeps its own times: for each GET or HEAD of an object, from the arrival of the request in the
// kernel to the system call that sends the answer. It prints its address, and when its standard input ends, the times.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"warp/pkg/s3mem"
)

func main() {
	service := flag.Duration("service", 2*time.Millisecond, "how long each GET or HEAD of an object takes")
	flag.Parse()
	if err := run(*service); err != nil {
		fmt.Fprintln(os.Stderr, "timedstore:", err)
		os.Exit(1)
	}
}

func run(service time.Duration) error {
	null, err := s3mem.StartNull(s3mem.NullOptions{Addr: "127.0.0.1:0", Size: 1024})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	log := &timeLog{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = pass(c.(*net.TCPConn), null.Addr(), service, log) }()
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
func pass(c *net.TCPConn, addr string, service time.Duration, log *timeLog) error {
	defer c.Close()
	up, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer up.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	var arrived atomic.Int64 // when the request that is being served arrived; 0 = another request
	go func() {
		defer up.Close()
		buf, oob := make([]byte, 64<<10), make([]byte, 256)
		for {
			n, at, err := receive(raw, buf, oob)
			if err != nil {
				return
			}
			arrived.Store(0)
			line, _, _ := bytes.Cut(buf[:n], []byte("\r\n"))
			reads := bytes.HasPrefix(line, []byte("GET ")) || bytes.HasPrefix(line, []byte("HEAD "))
			if reads && !bytes.Contains(line, []byte("?")) {
				arrived.Store(at)
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
			time.Sleep(service - time.Duration(time.Now().UnixNano()-at))
			log.add(time.Duration(time.Now().UnixNano() - at))
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// receive receives with the time at which the last byte arrived in the kernel, in unix ns.
func receive(raw interface {
	Read(func(uintptr) bool) error
}, buf, oob []byte) (n int, at int64, err error) {
	var control int
	waitErr := raw.Read(func(fd uintptr) bool {
		n, control, _, _, err = unix.Recvmsg(int(fd), buf, oob, unix.MSG_DONTWAIT)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err == nil {
		err = waitErr
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return 0, 0, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:control])
	if err != nil || len(messages) == 0 || len(messages[0].Data) < int(unsafe.Sizeof(unix.Timespec{})) {
		return n, 0, err
	}
	stamp := (*unix.Timespec)(unsafe.Pointer(&messages[0].Data[0]))
	return n, stamp.Nano(), nil
}
