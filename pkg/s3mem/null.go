package s3mem

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// NullOptions configure a null store.
type NullOptions struct {
	Addr string // listen address; "" means a free port of loopback
	Size int64  // size of every object
	TLS  bool   // use TLS, with a self-signed certificate
	// Delay, if set, returns how long to wait before each answer. Many connections call it
	// concurrently.
	Delay func(method, target string) time.Duration
}

// Null is an S3 store that answers every request with success and stores nothing. It works on raw
// sockets, without net/http, so that measurements against it show the client.
//
// Every object has Size bytes of 'x' and the matching ETag, and uploads are answered with that ETag
// too. Lists are empty.
type Null struct {
	opts     NullOptions
	listener net.Listener
	tls      *tls.Config // nil without TLS
	body     []byte      // a piece of the payload, sent as often as necessary
	head     string      // the header lines that all answers share
	gcsMD5   string      // MD5 of every object
	gcsHash  string      // the header line with gcsMD5
	frozen   atomic.Int64
	counts   [len(countedMethods)]atomic.Int64
	bytesIn  atomic.Int64

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	wg     sync.WaitGroup
}

// countedMethods is indexed like Null.counts; the last entry counts all others.
var countedMethods = [...]string{"GET", "PUT", "HEAD", "DELETE", "POST", ""}

const nullPiece = 256 << 10

// StartNull starts a null store.
func StartNull(o NullOptions) (*Null, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	n := &Null{opts: o, conns: map[net.Conn]struct{}{}}
	var err error
	if o.TLS {
		if n.tls, err = nullTLS(); err != nil {
			return nil, err
		}
	}
	if n.listener, err = net.Listen("tcp", o.Addr); err != nil {
		return nil, err
	}
	n.body = bytes.Repeat([]byte("x"), int(min(o.Size, nullPiece)))
	n.head = "ETag: \"" + etagOfX(o.Size) + "\"\r\nLast-Modified: " + time.Now().UTC().Format(http.TimeFormat) +
		"\r\nContent-Type: application/octet-stream\r\nContent-Length: "
	n.gcsMD5 = gcsMD5(etagOfX(o.Size))
	n.gcsHash = "X-Goog-Hash: crc32c=AAAAAA==,md5=" + n.gcsMD5 + "\r\n"
	n.wg.Add(1)
	go n.accept()
	return n, nil
}

func etagOfX(size int64) string {
	h := md5.New()
	piece := bytes.Repeat([]byte("x"), int(min(size, nullPiece)))
	for size > 0 {
		k := min(size, int64(len(piece)))
		h.Write(piece[:k])
		size -= k
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Addr returns the host:port to connect to.
func (n *Null) Addr() string { return n.listener.Addr().String() }

// Freeze delays every answer until d from now, including answers to requests that arrive meanwhile.
func (n *Null) Freeze(d time.Duration) { n.frozen.Store(time.Now().Add(d).UnixNano()) }

// Count returns how many requests of a method have arrived.
func (n *Null) Count(method string) int64 { return n.counts[countIndex(method)].Load() }

func countIndex(method string) int {
	for i, m := range countedMethods[:len(countedMethods)-1] {
		if m == method {
			return i
		}
	}
	return len(countedMethods) - 1
}

// Close stops the store and closes all its connections.
func (n *Null) Close() error {
	n.mu.Lock()
	n.closed = true
	err := n.listener.Close()
	for c := range n.conns {
		c.Close()
	}
	n.mu.Unlock()
	n.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (n *Null) accept() {
	defer n.wg.Done()
	for {
		c, err := n.listener.Accept()
		if err != nil {
			if n.isClosed() {
				return
			}
			time.Sleep(10 * time.Millisecond) // probably too many open files
			continue
		}
		if n.enter(c) {
			go n.serve(c)
		}
	}
}

func (n *Null) isClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

func (n *Null) enter(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		c.Close()
		return false
	}
	n.conns[c] = struct{}{}
	n.wg.Add(1)
	return true
}

func (n *Null) leave(c net.Conn) {
	c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
	n.wg.Done()
}

// serve answers the requests of one connection until it ends or sends an invalid request.
func (n *Null) serve(c net.Conn) {
	defer n.leave(c)
	if n.tls != nil {
		c = tls.Server(c, n.tls)
	}
	s := &nullConn{n: n, c: c, br: bufio.NewReaderSize(c, 16<<10), drop: newDropper(c)}
	for s.one() == nil {
	}
}

// nullConn is one connection. It reuses all its memory.
type nullConn struct {
	n    *Null
	c    net.Conn
	br   *bufio.Reader
	drop dropper
	out  []byte
	vec  [2][]byte
}

// A dropper discards bytes from a connection.
type dropper interface{ drop(n int64) error }

// A nullRequest contains the parts of a request that determine the answer.
type nullRequest struct {
	method, target string
	length         int64 // length of the body; -1 = chunked
	expect         bool
	from, to       int64 // range; to is -1 without one
}

func (s *nullConn) one() error {
	req, err := s.readRequest()
	if err != nil {
		return err
	}
	s.n.counts[countIndex(req.method)].Add(1)
	if req.expect {
		if _, err := s.c.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return err
		}
	}
	deleted, err := s.body(&req)
	if err != nil {
		return err
	}
	s.n.wait(req.method, req.target)
	if deleted != nil {
		return s.sendDocument(deleted)
	}
	return s.answer(&req)
}

// maxKeys is larger than the names of the 1000 objects that one request may delete.
const maxKeys = 4 << 20

// body discards the body of a request, except for a batch deletion. Clients count the confirmed
// deletions, so the answer must name them.
func (s *nullConn) body(req *nullRequest) (deleted []byte, err error) {
	switch {
	case req.length < 0:
		return nil, s.discardChunks()
	case req.method != "POST" || !isBatchDelete(req.target) || req.length > maxKeys:
		return nil, s.discard(req.length)
	}
	list := make([]byte, req.length)
	if _, err := io.ReadFull(s.br, list); err != nil {
		return nil, err
	}
	s.n.bytesIn.Add(req.length)
	var entries []byte
	for {
		_, rest, found := bytes.Cut(list, []byte("<Key>"))
		key, rest, ok := bytes.Cut(rest, []byte("</Key>"))
		if !found || !ok {
			return []byte(document("DeleteResult", string(entries))), nil
		}
		entries = append(append(append(entries, "<Deleted><Key>"...), key...), "</Key></Deleted>"...)
		list = rest
	}
}

// wait delays an answer by Delay or Freeze.
func (n *Null) wait(method, target string) {
	if n.opts.Delay != nil {
		time.Sleep(n.opts.Delay(method, target))
	}
	for until := n.frozen.Load(); until != 0; until = n.frozen.Load() {
		d := time.Until(time.Unix(0, until))
		if d <= 0 {
			return
		}
		time.Sleep(d)
	}
}

func (s *nullConn) readRequest() (req nullRequest, err error) {
	line, err := s.br.ReadSlice('\n')
	if err != nil {
		return req, err
	}
	method, rest, ok := bytes.Cut(line, []byte(" "))
	target, _, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 {
		return req, errors.New("not a request")
	}
	req.method, req.to = internMethod(method), -1
	// Only a query, or a request without an object, changes the answer, so most requests need no
	// string.
	if s.n.opts.Delay != nil || bytes.IndexByte(target, '?') >= 0 || bytes.Count(target, []byte("/")) < 2 || bytes.HasPrefix(target, []byte(gcsPath)) {
		req.target = string(target)
	} else {
		req.target = "/b/o"
	}
	for {
		l, err := s.br.ReadSlice('\n')
		if err != nil {
			return req, err
		}
		if l = bytes.TrimRight(l, "\r\n"); len(l) == 0 {
			return req, nil
		}
		if err := req.header(l); err != nil {
			return req, err
		}
	}
}

func internMethod(m []byte) string {
	for _, known := range countedMethods {
		if string(m) == known {
			return known
		}
	}
	return string(m)
}

func (req *nullRequest) header(line []byte) (err error) {
	// Skip nearly all lines.
	switch line[0] | 0x20 {
	case 'c', 'e', 'r', 't':
	default:
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		req.length, err = strconv.ParseInt(string(value), 10, 64)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		req.length = -1
	case bytes.EqualFold(name, []byte("Expect")):
		req.expect = true
	case bytes.EqualFold(name, []byte("Range")):
		err = req.parseRange(string(value))
	}
	return err
}

// parseRange parses "bytes=a-b". It ignores other forms, as HTTP allows.
func (req *nullRequest) parseRange(v string) (err error) {
	v, ok := strings.CutPrefix(v, "bytes=")
	from, to, ok2 := strings.Cut(v, "-")
	if !ok || !ok2 || from == "" {
		return nil
	}
	req.to = 1<<63 - 1
	if req.from, err = strconv.ParseInt(from, 10, 64); err == nil && to != "" {
		req.to, err = strconv.ParseInt(to, 10, 64)
	}
	return err
}

// discard discards a body: first the buffer, then the socket.
func (s *nullConn) discard(length int64) error {
	s.n.bytesIn.Add(length)
	b := min(length, int64(s.br.Buffered()))
	s.br.Discard(int(b))
	return s.drop.drop(length - b)
}

// discardChunks discards a chunked body. S3 requires a length, but minio-go sends an empty streamed
// upload this way.
func (s *nullConn) discardChunks() error {
	for {
		line, err := s.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(";"))
		size, err := strconv.ParseInt(string(digits), 16, 64)
		if err != nil || size < 0 {
			return errors.New("not a chunk")
		}
		if size > 0 {
			if err := s.discard(size); err != nil {
				return err
			}
		}
		// Read the line end after a chunk, or after the last one the trailers up to an empty line.
		for {
			line, err := s.br.ReadSlice('\n')
			if err != nil {
				return err
			}
			if end := len(bytes.TrimSpace(line)) == 0; end && size == 0 {
				return nil
			} else if end {
				break
			}
		}
	}
}

// answer sends the answer to a request.
func (s *nullConn) answer(req *nullRequest) error {
	if xml := nullXML(req.method, req.target); xml != "" {
		return s.sendDocument([]byte(xml))
	}
	if text := s.n.gcsAnswer(req); text != "" {
		return s.sendDocument([]byte(text))
	}
	switch req.method {
	case "DELETE":
		return s.send("204 No Content", "", nil, 0, 0)
	case "HEAD":
		return s.send("200 OK", azureHeader(req.target), nil, s.n.opts.Size, 0)
	case "GET":
		if req.to < 0 && strings.HasPrefix(req.target, gcsPath) {
			return s.send("200 OK", s.n.gcsHash, s.n.body, s.n.opts.Size, s.n.opts.Size)
		}
		if req.to < 0 {
			return s.send("200 OK", "", s.n.body, s.n.opts.Size, s.n.opts.Size)
		}
		to := min(req.to, s.n.opts.Size-1)
		if req.from > to {
			return s.send("416 Requested Range Not Satisfiable", "", nil, 0, 0)
		}
		rng := "Content-Range: bytes " + strconv.FormatInt(req.from, 10) + "-" + strconv.FormatInt(to, 10) + "/" +
			strconv.FormatInt(s.n.opts.Size, 10) + "\r\n"
		return s.send("206 Partial Content", rng, s.n.body, to-req.from+1, to-req.from+1)
	}
	return s.send("200 OK", "", nil, 0, 0)
}

func (s *nullConn) sendDocument(text []byte) error {
	return s.send("200 OK", "", text, int64(len(text)), int64(len(text)))
}

// send writes an answer whose announced length may differ from its real one (0 for HEAD). The body
// repeats piece.
func (s *nullConn) send(status, extra string, piece []byte, announced, length int64) error {
	s.out = append(s.out[:0], "HTTP/1.1 "...)
	s.out = append(s.out, status...)
	s.out = append(s.out, "\r\n"...)
	s.out = append(s.out, extra...)
	s.out = append(s.out, s.n.head...)
	s.out = strconv.AppendInt(s.out, announced, 10)
	s.out = append(s.out, "\r\n\r\n"...)
	if length <= 16<<10 && length <= int64(len(piece)) {
		// Copying this much is cheaper than a second buffer in the system call.
		s.out = append(s.out, piece[:length]...)
		_, err := s.c.Write(s.out)
		return err
	}
	first := min(length, int64(len(piece)))
	s.vec = [2][]byte{s.out, piece[:first]}
	bufs := net.Buffers(s.vec[:])
	if _, err := bufs.WriteTo(s.c); err != nil {
		return err
	}
	for length -= first; length > 0; length -= first {
		first = min(length, int64(len(piece)))
		if _, err := s.c.Write(piece[:first]); err != nil {
			return err
		}
	}
	return nil
}

// nullXML returns the document that answers a request, or "" if there is none.
func nullXML(method, target string) string {
	path, query, _ := strings.Cut(target, "?")
	_, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	has := func(name string) bool { return hasParameter(query, name) }
	switch {
	case method == "POST" && has("uploads"):
		return document("InitiateMultipartUploadResult", "<Bucket>b</Bucket><Key>k</Key><UploadId>null</UploadId>")
	case method == "POST" && has("uploadId"):
		return document("CompleteMultipartUploadResult", "<Bucket>b</Bucket><Key>k</Key><ETag>&quot;00000000000000000000000000000000-1&quot;</ETag>")
	case method != "GET" || key != "":
		return ""
	case path == "/":
		return document("ListAllMyBucketsResult", "<Buckets></Buckets>")
	case has("comp"):
		return azureListing
	case has("location"):
		return document("LocationConstraint", "")
	case has("versioning"):
		return document("VersioningConfiguration", "")
	case has("versions"):
		return document("ListVersionsResult", "<Name>b</Name><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>")
	case has("uploads"):
		return document("ListMultipartUploadsResult", "<Bucket>b</Bucket><IsTruncated>false</IsTruncated>")
	}
	return document("ListBucketResult", "<Name>b</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>")
}

func document(name, inner string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><` + name + ` xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` + inner + `</` + name + `>`
}

// A readDropper discards by reading, if the kernel cannot do it.
type readDropper struct {
	c   net.Conn
	buf []byte
}

func (d *readDropper) drop(n int64) error {
	if d.buf == nil {
		d.buf = make([]byte, 64<<10)
	}
	for n > 0 {
		got, err := d.c.Read(d.buf[:min(n, int64(len(d.buf)))])
		if n -= int64(got); n == 0 {
			return nil
		}
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isBatchDelete(target string) bool {
	_, query, _ := strings.Cut(target, "?")
	return hasParameter(query, "delete")
}

func hasParameter(query, name string) bool {
	for p := range strings.SplitSeq(query, "&") {
		if k, _, _ := strings.Cut(p, "="); k == name {
			return true
		}
	}
	return false
}
