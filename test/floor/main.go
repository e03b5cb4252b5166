// Command floor measures what a request costs on this machine when a client does nothing but move bytes, and what
// warp costs above that.
//
//	floor get|put|stat -addr HOST:PORT -c 8 -d 5s -size 1024    one line: requests/s, CPU per request
//	floor ratios -warp ./warp -nullstore ./nullstore            the table of make bench
//
// Its requests are constants: no signature, no key to choose, no record. A payload is received with MSG_TRUNC where
// there is such a thing, one under TLS is read into one buffer, and both are sent from one buffer.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// nothing is the argument with which this program ends at once, to measure the
// start of a process.
const nothing = "nothing"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: floor get|put|stat|ratios [flags]")
	}
	switch args[0] {
	case "ratios":
		return ratios(args[1:])
	case nothing:
		return nil
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	l := load{op: args[0]}
	f.StringVar(&l.addr, "addr", "127.0.0.1:9000", "where the store listens")
	f.IntVar(&l.size, "size", 1024, "bytes of an upload")
	f.IntVar(&l.connections, "c", 8, "connections")
	f.DurationVar(&l.duration, "d", 5*time.Second, "how long")
	f.BoolVar(&l.secure, "tls", false, "speak TLS, and accept any certificate")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if err := l.run(); err != nil {
		return err
	}
	fmt.Printf("requests=%d wall_s=%.3f\n", l.requests.Load(), l.wall.Seconds())
	return nil
}

// A load is what some connections ask for, one request after the other.
type load struct {
	op, addr          string
	size, connections int
	duration          time.Duration
	secure            bool

	payload  []byte
	stop     atomic.Bool
	requests atomic.Int64
	wall     time.Duration
}

func (l *load) run() error {
	l.payload = bytes.Repeat([]byte("y"), l.size)
	time.AfterFunc(l.duration, func() { l.stop.Store(true) })
	start := time.Now()
	errs := make([]error, l.connections)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = l.connection(i) })
	}
	wg.Wait()
	l.wall = time.Since(start)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// connection sends requests on one connection until time is up.
func (l *load) connection(id int) error {
	conn, err := net.Dial("tcp", l.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if l.secure {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	method := map[string]string{"get": "GET", "put": "PUT", "stat": "HEAD"}[l.op]
	if method == "" {
		return fmt.Errorf("unknown command %q", l.op)
	}
	before, after := method+" /bucket/p"+strconv.Itoa(id)+"/", l.headers()
	in, drop := bufio.NewReaderSize(conn, 16<<10), newDropper(conn)
	head := make([]byte, 0, 2<<10+min(l.size, 16<<10)) // with room for what send appends
	for k := int64(0); !l.stop.Load(); k++ {
		head = append(strconv.AppendInt(append(head[:0], before...), k%1000, 10), after...)
		if err := l.send(conn, head); err != nil {
			return err
		}
		length, err := readHead(in)
		if err != nil {
			return err
		}
		if l.op == "stat" {
			length = 0
		}
		buffered := min(length, in.Buffered())
		in.Discard(buffered)
		if err := drop.drop(length - buffered); err != nil {
			return err
		}
		l.requests.Add(1)
	}
	return nil
}

// headers are as long as a signed request's.
func (l *load) headers() string {
	h := " HTTP/1.1\r\nHost: " + l.addr + "\r\nX-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\nX-Amz-Date: 20260101T000000Z\r\n" +
		"Authorization: AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, " +
		"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" + strings.Repeat("a", 64) + "\r\n"
	if l.op == "put" {
		h += "Content-Length: " + strconv.Itoa(l.size) + "\r\n"
	}
	return h + "\r\n"
}

// send sends a head, and the payload of an upload: one that fits a TLS record in one write with it.
func (l *load) send(conn net.Conn, head []byte) error {
	var err error
	switch {
	case l.op != "put":
		_, err = conn.Write(head)
	case l.secure && l.size < 16<<10-len(head):
		_, err = conn.Write(append(head, l.payload...))
	default:
		both := net.Buffers{head, l.payload}
		_, err = both.WriteTo(conn)
	}
	return err
}

// A dropper discards payload.
type dropper interface{ drop(n int) error }

// A reader does so by reading it.
type reader struct {
	conn net.Conn
	buf  []byte
}

func newReader(c net.Conn) reader { return reader{c, make([]byte, 64<<10)} }

func (r reader) drop(n int) error {
	for n > 0 {
		got, err := r.conn.Read(r.buf[:min(n, len(r.buf))])
		if err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// readHead reads an answer's head and returns its Content-Length.
func readHead(in *bufio.Reader) (length int, err error) {
	status, err := in.ReadSlice('\n')
	if err == nil && !bytes.Contains(status, []byte(" 200 ")) {
		err = fmt.Errorf("the store answers %q", status)
	}
	for err == nil {
		var line []byte
		if line, err = in.ReadSlice('\n'); err != nil || len(line) <= 2 {
			return length, err
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return 0, err
}
