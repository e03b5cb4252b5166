package s3

import (
	"encoding/hex"
	"strconv"
	"unicode/utf8"
)

// A leanQuery is a request before it is on the wire.
type leanQuery struct {
	method        string
	ref           Ref
	offset        int64 // of a GET's range
	length        int64 // 0 = no range
	body          Body  // of a PUT
	size          int64
	contentType   string
	payloadHash   string // for x-amz-content-sha256; "" = the hash in signer.sum
	contentLength int64  // on the wire; -1 = none
}

// streamed says whether the payload goes out in signed chunks.
func (q *leanQuery) streamed() bool { return q.payloadHash == streamingPayload }

// validKey says whether the key is one that goes out as it is. What minio-go
// refuses is left to it to refuse.
func validKey(key string) bool {
	if len(key) == 0 || len(key) > 1024 {
		return false
	}
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c >= utf8.RuneSelf {
			return utf8.ValidString(key) && key[0] > ' ' && key[0] < utf8.RuneSelf
		}
	}
	return true
}

const upperHex = "0123456789ABCDEF"

// appendEscaped appends s with everything percent-encoded that S3's canonical
// form wants to be so; a slash stays in paths.
func appendEscaped(dst []byte, s string, slash bool) []byte {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '-', c == '_', c == '.', c == '~', c == '/' && slash:
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// buildHead makes the request's head in c.head and signs it. The canonical
// request grows beside it, in the signer's memory; headers are in the order of
// their names in both, so no sorting is needed.
func (c *leanConn) buildHead(q *leanQuery) {
	h := append(append(c.ask[:0], q.method...), " /"...)
	from := len(h) - 1
	h = append(append(h, q.ref.Bucket...), '/')
	h = appendEscaped(h, q.ref.Key, true)
	path := len(h)
	if q.ref.VersionID != "" {
		h = append(h, "?versionId="...)
		h = appendEscaped(h, q.ref.VersionID, false)
	}
	target := len(h)
	h = append(h, " HTTP/1.1\r\nHost: "...)
	h = append(h, c.e.host...)
	h = append(h, c.e.agent...)
	if q.contentLength >= 0 {
		h = append(h, "Content-Length: "...)
		h = strconv.AppendInt(h, q.contentLength, 10)
		h = append(h, "\r\n"...)
	}
	s := &c.signer
	text := append(append(s.text[:0], q.method...), '\n')
	text = append(append(text, h[from:path]...), '\n')
	if target > path {
		text = append(text, h[path+1:target]...)
	}
	s.text = append(text, '\n')
	c.ask = h
	c.appendHeaders(q)
	c.ask = append(c.ask, "\r\n"...)
}

// appendHeaders appends the headers that are signed, and the signature.
func (c *leanConn) appendHeaders(q *leanQuery) {
	s := &c.signer
	var sum [64]byte
	hash := append(sum[:0], q.payloadHash...)
	if q.payloadHash == "" {
		hash = hex.AppendEncode(hash, s.sum[:])
	}
	if q.streamed() {
		c.header("Content-Encoding: ", "content-encoding:", "aws-chunked")
	}
	if q.method == "PUT" {
		c.header("Content-Type: ", "content-type:", q.contentType)
	}
	s.text = append(append(append(s.text, "host:"...), c.e.host...), '\n')
	if q.length > 0 {
		var num [64]byte
		span := append(strconv.AppendInt(append(num[:0], "bytes="...), q.offset, 10), '-')
		c.headerBytes("Range: ", "range:", strconv.AppendInt(span, q.offset+q.length-1, 10))
	}
	if s.anonymous() {
		return
	}
	c.headerBytes("X-Amz-Content-Sha256: ", "x-amz-content-sha256:", hash)
	c.headerBytes("X-Amz-Date: ", "x-amz-date:", s.date[:])
	if q.streamed() {
		var num [20]byte
		c.headerBytes("X-Amz-Decoded-Content-Length: ", "x-amz-decoded-content-length:", strconv.AppendInt(num[:0], q.size, 10))
	}
	if s.value.SessionToken != "" {
		c.header("X-Amz-Security-Token: ", "x-amz-security-token:", s.value.SessionToken)
	}
	s.text = append(s.text, '\n')
	from := len(s.text)
	s.text = appendSignedNames(s.text, q, s.value.SessionToken != "")
	c.appendCredential(s.text[from:])
	s.text = append(append(s.text, '\n'), hash...)
	s.sign()
	c.ask = append(append(c.ask, s.last[:]...), "\r\n"...)
}

// header appends one header to the request and to its canonical form.
func (c *leanConn) header(name, canonical, value string) {
	c.ask = append(append(append(c.ask, name...), value...), "\r\n"...)
	c.signer.text = append(append(append(c.signer.text, canonical...), value...), '\n')
}

func (c *leanConn) headerBytes(name, canonical string, value []byte) {
	c.ask = append(append(append(c.ask, name...), value...), "\r\n"...)
	c.signer.text = append(append(append(c.signer.text, canonical...), value...), '\n')
}

func (c *leanConn) appendCredential(names []byte) {
	h := append(c.ask, "Authorization: AWS4-HMAC-SHA256 Credential="...)
	h = append(append(h, c.signer.value.AccessKeyID...), '/')
	h = append(h, c.signer.scope...)
	h = append(h, ", SignedHeaders="...)
	h = append(h, names...)
	c.ask = append(h, ", Signature="...)
}

func appendSignedNames(dst []byte, q *leanQuery, token bool) []byte {
	if q.streamed() {
		dst = append(dst, "content-encoding;"...)
	}
	if q.method == "PUT" {
		dst = append(dst, "content-type;"...)
	}
	dst = append(dst, "host;"...)
	if q.length > 0 {
		dst = append(dst, "range;"...)
	}
	dst = append(dst, "x-amz-content-sha256;x-amz-date"...)
	if q.streamed() {
		dst = append(dst, ";x-amz-decoded-content-length"...)
	}
	if token {
		dst = append(dst, ";x-amz-security-token"...)
	}
	return dst
}

// appendChunkHead appends the line before a signed chunk.
func (s *leanSigner) appendChunkHead(dst []byte, size int) []byte {
	dst = strconv.AppendInt(dst, int64(size), 16)
	dst = append(dst, ";chunk-signature="...)
	dst = append(dst, s.last[:]...)
	return append(dst, "\r\n"...)
}

// chunkHeadLen is how long that line is.
func chunkHeadLen(size int) int {
	var num [20]byte
	return len(strconv.AppendInt(num[:0], int64(size), 16)) + len(";chunk-signature=") + 64 + len("\r\n")
}

// streamedLength is how long a payload of the given size is in signed chunks.
func streamedLength(size int64) int64 {
	const end = int64(len("\r\n"))
	n := size + size/leanChunk*(int64(chunkHeadLen(leanChunk))+end) + int64(chunkHeadLen(0)) + end
	if rest := size % leanChunk; rest > 0 {
		n += int64(chunkHeadLen(int(rest))) + end
	}
	return n
}
