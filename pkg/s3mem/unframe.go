package s3mem

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"
)

const checksumPrefix = "X-Amz-Checksum-"

// checksumOf returns a new hash for a checksum header, or nil for any other header.
func checksumOf(name string) hash.Hash {
	alg, ok := strings.CutPrefix(http.CanonicalHeaderKey(name), checksumPrefix)
	if !ok {
		return nil
	}
	switch alg {
	case "Crc32":
		return crc32.NewIEEE()
	case "Crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "Crc64nvme":
		return crc64.New(crc64.MakeTable(0x9a6c9329ac4bc9b5))
	case "Sha1":
		return sha1.New()
	case "Sha256":
		return sha256.New()
	}
	return nil
}

// unframe makes the body of an upload plain: it removes the chunk framing of streamed signatures,
// checks a checksum in the headers or in a trailer, and returns the size of the payload. As in S3,
// it adds a valid checksum to the headers of the answer.
func unframe(r *http.Request, answer http.Header) (size int64, err error) {
	size = r.ContentLength
	name := ""
	for h := range r.Header {
		// When a multipart upload is completed, the checksum belongs to the object, not to the
		// body.
		completes := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
		if checksumOf(h) != nil && !completes {
			name = h
		}
	}
	body := &checkedBody{inner: r.Body, close: r.Body, want: r.Header.Get(name), answer: answer}
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		size, err = strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
		if err != nil {
			return 0, errors.New("a streamed upload needs X-Amz-Decoded-Content-Length")
		}
		body.chunks = newChunkReader(r.Body)
		body.inner = body.chunks
		if t := r.Header.Get("X-Amz-Trailer"); t != "" {
			name = http.CanonicalHeaderKey(t)
		}
		// The framing is not a property of the object.
		if enc := strings.Trim(strings.ReplaceAll(r.Header.Get("Content-Encoding"), "aws-chunked", ""), ", "); enc == "" {
			r.Header.Del("Content-Encoding")
		} else {
			r.Header.Set("Content-Encoding", enc)
		}
		r.Header.Set("Content-Length", strconv.FormatInt(size, 10))
		r.ContentLength = size
	} else if r.ContentLength < 0 {
		return 0, errors.New("an upload needs a Content-Length")
	}
	r.Header.Del("X-Amz-Content-Sha256")
	if name == "" && body.chunks == nil {
		return size, nil
	}
	if name != "" {
		if body.sum = checksumOf(name); body.sum == nil {
			return 0, fmt.Errorf("the embedded store knows no trailer %s", name)
		}
		body.name = name
	}
	r.Body = body
	return size, nil
}

// checkedBody checks a checksum at the end of the payload.
type checkedBody struct {
	inner  io.Reader
	close  io.Closer
	chunks *chunkReader // nil if the body is not framed
	sum    hash.Hash    // nil if there is nothing to check
	name   string
	want   string
	answer http.Header
}

func (b *checkedBody) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	if b.sum == nil {
		return n, err
	}
	b.sum.Write(p[:n])
	if err != io.EOF {
		return n, err
	}
	want := b.want
	if b.chunks != nil && want == "" {
		want = b.chunks.trailer[b.name]
	}
	if got := base64.StdEncoding.EncodeToString(b.sum.Sum(nil)); got != want {
		return n, gofakes3.ErrorMessagef(gofakes3.ErrBadDigest, "%s is %s, not %q", b.name, got, want)
	}
	b.answer.Set(b.name, want)
	return n, io.EOF
}

func (b *checkedBody) Close() error { return b.close.Close() }

// chunkReader reads the aws-chunked framing: lines "size[;chunk-signature=…]", each before its
// chunk, then a chunk of size 0, then trailers. It does not check signatures, because the store
// accepts any credentials.
type chunkReader struct {
	r       *bufio.Reader
	left    int64
	begun   bool
	ended   bool
	trailer map[string]string
}

func newChunkReader(r io.Reader) *chunkReader { return &chunkReader{r: bufio.NewReader(r)} }

func (c *chunkReader) Read(p []byte) (int, error) {
	if c.ended {
		return 0, io.EOF
	}
	if c.left == 0 {
		if err := c.nextChunk(); err != nil || c.ended {
			return 0, orEOF(err)
		}
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// orEOF turns a nil error at the end of a body into io.EOF.
func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

func (c *chunkReader) nextChunk() error {
	if c.begun {
		if line, err := c.line(); err != nil || len(line) > 0 {
			return malformed(err)
		}
	}
	c.begun = true
	line, err := c.line()
	if err != nil {
		return malformed(err)
	}
	digits, _, _ := bytes.Cut(line, []byte(";"))
	c.left, err = strconv.ParseInt(string(digits), 16, 64)
	if err != nil || c.left < 0 {
		return malformed(nil)
	}
	if c.left == 0 {
		return c.readTrailer()
	}
	return nil
}

func (c *chunkReader) readTrailer() error {
	c.ended, c.trailer = true, map[string]string{}
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		c.trailer[http.CanonicalHeaderKey(string(name))] = string(bytes.TrimSpace(value))
	}
}

func (c *chunkReader) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

func malformed(err error) error {
	if err == nil || err == io.EOF || err == bufio.ErrBufferFull {
		return gofakes3.ErrIncompleteBody
	}
	return err
}
