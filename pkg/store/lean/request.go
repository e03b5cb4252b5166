package lean

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// A request is a request to be built and sent.
type request struct {
	method        string
	redirected    *url.URL  // where the request goes instead, in canonical form; nil = built from the fields below
	moved         []byte    // likewise for a call: path and query as they are sent
	anonymous     bool      // it was redirected to a host that must not get credentials
	ref           store.Ref // no key means the bucket itself
	params        [8]param
	count         int            // number of params
	fields        []field        // for the options, in the order of their names
	headers       []store.Header // for this request only
	offset        int64          // the range of a GET
	length        int64          // 0 = no range
	body          store.Body     // the payload of a PUT
	size          int64
	contentType   string      // "" = none
	part          bool        // the body is one part of an upload
	checksums     bool        // keep the checksums in the answer; a GET has to ask for them
	md5           bool        // send Content-MD5
	trailer       bool        // a checksum follows the body
	refs          []store.Ref // objects to delete; the body is their list
	payloadHash   string      // for x-amz-content-sha256; "" = the hash in signer.sum
	contentLength int64       // on the wire; -1 = none
	call          *Call       // a call, not a request of S3
}

// A param is a query parameter. They are added sorted by name, as in the canonical request.
type param struct {
	name, value string
	number      int // instead of value
}

func (q *request) param(name, value string) {
	q.params[q.count] = param{name: name, value: value}
	q.count++
}

func (q *request) paramNumber(name string, number int) {
	q.params[q.count] = param{name: name, number: number}
	q.count++
}

func (q *request) version(ref *store.Ref) {
	if ref.VersionID != "" {
		q.param("versionId", ref.VersionID)
	}
}

// streamed reports whether the payload is sent in chunks.
func (q *request) streamed() bool {
	switch q.payloadHash {
	case streamingPayload, signedTrailer, unsignedTrailer:
		return true
	}
	return false
}

// signsChunks reports whether the chunks are signed.
func (q *request) signsChunks() bool { return q.payloadHash != unsignedTrailer }

// mutates reports whether the request changes the store, so that it must not be sent twice.
func (q *request) mutates() bool { return q.method != "GET" && q.method != "HEAD" }

// idempotent reports whether the request is an upload that may be sent twice with the same result
// and that one call sends.
func (q *request) idempotent() bool {
	if q.call != nil {
		return q.call.Idempotent && q.size <= s3.SignedWhole
	}
	return q.method == "PUT" && q.size <= s3.SignedWhole && len(q.headers) == 0 && len(q.refs) == 0
}

// validKey reports whether the key can be sent as it is. Keys that minio-go rejects are left to
// it.
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

// appendEscaped appends s percent-encoded as in S3's canonical request. A slash stays as it is if
// slash is set.
func appendEscaped(dst []byte, s string, slash bool) []byte {
	for i := range len(s) {
		c := s[i]
		if unreserved[c] && (slash || c != '/') {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// unreserved characters are not escaped; the slash is unreserved only in paths.
var unreserved = func() (is [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/" {
		is[c] = true
	}
	return is
}()

// buildHead builds the request's head in c.ask and signs it. It also builds the canonical request
// in the signer's memory. The headers of both are sorted by name.
func (c *conn) buildHead(q *request) {
	if q.call != nil {
		c.buildCall(q)
		return
	}
	h := append(append(c.ask[:0], q.method...), ' ')
	from := len(h)
	h, path := c.e.appendTarget(h, q)
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
	if !s.anonymous() {
		s.sign()
		c.ask = append(append(c.ask, s.last[:]...), "\r\n"...)
	}
	c.ask = append(c.ask, "\r\n"...)
}

// appendTarget appends path and parameters, and returns where the path ends.
func (e *Engine) appendTarget(h []byte, q *request) (all []byte, path int) {
	if q.redirected != nil {
		h = append(h, q.redirected.RawPath...)
		path = len(h)
		if q.redirected.RawQuery != "" {
			h = append(append(h, '?'), q.redirected.RawQuery...)
		}
		return h, path
	}
	h = append(append(h, e.path...), '/')
	if !e.ownHost {
		h = append(append(h, q.ref.Bucket...), '/')
	}
	h = appendEscaped(h, q.ref.Key, true)
	return appendParams(h, q), len(h)
}

func appendParams(h []byte, q *request) []byte {
	separator := byte('?')
	for i := range q.count {
		p := &q.params[i]
		h = append(append(append(h, separator), p.name...), '=')
		if p.number > 0 {
			h = strconv.AppendInt(h, int64(p.number), 10)
		} else {
			h = appendEscaped(h, p.value, false)
		}
		separator = '&'
	}
	return h
}

// appendHeaders appends the signed headers, up to the signature.
func (c *conn) appendHeaders(q *request) {
	s := &c.signer
	s.names, c.pending, c.key = s.names[:0], c.sorted(q.fields, q.headers), q.ref.Key
	var sum [64]byte
	hash := append(sum[:0], q.payloadHash...)
	if q.payloadHash == "" {
		hash = appendHex(hash, &s.sum)
	}
	c.appendContentHeaders(q)
	c.appendPendingUpTo("host")
	s.text = append(append(append(s.text, "host:"...), c.e.host...), '\n')
	s.names = append(s.names, "host;"...)
	if q.length > 0 {
		var num [64]byte
		span := append(strconv.AppendInt(append(num[:0], "bytes="...), q.offset, 10), '-')
		addHeader(c, "Range: ", "range:", strconv.AppendInt(span, q.offset+q.length-1, 10))
	}
	if q.checksums && q.method == "GET" {
		addHeader(c, "X-Amz-Checksum-Mode: ", "x-amz-checksum-mode:", "ENABLED")
	}
	if s.anonymous() {
		c.appendPendingUpTo("~")
		return
	}
	addHeader(c, "X-Amz-Content-Sha256: ", "x-amz-content-sha256:", hash)
	addHeader(c, "X-Amz-Date: ", "x-amz-date:", s.date[:])
	if q.streamed() {
		var num [20]byte
		addHeader(c, "X-Amz-Decoded-Content-Length: ", "x-amz-decoded-content-length:", strconv.AppendInt(num[:0], q.size, 10))
	}
	switch {
	case s.keys.Signature == s3.SignExpress:
		addHeader(c, "X-Amz-S3session-Token: ", s3.SessionToken+":", s.keys.SessionToken)
	case s.keys.SessionToken != "":
		addHeader(c, "X-Amz-Security-Token: ", "x-amz-security-token:", s.keys.SessionToken)
	}
	if q.trailer {
		addHeader(c, "X-Amz-Trailer: ", "x-amz-trailer:", c.e.trailer)
	}
	c.appendPendingUpTo("~")
	names := s.names[:len(s.names)-len(";")]
	s.text = append(append(append(s.text, '\n'), names...), '\n')
	c.appendCredential(names)
	s.text = append(s.text, hash...)
}

// appendContentHeaders appends the headers that describe the body.
func (c *conn) appendContentHeaders(q *request) {
	if q.streamed() {
		addHeader(c, "Content-Encoding: ", "content-encoding:", c.encoding())
	}
	if q.md5 || len(q.refs) > 0 {
		var sum [24]byte
		addHeader(c, "Content-Md5: ", "content-md5:", base64.StdEncoding.AppendEncode(sum[:0], c.signer.md5Sum[:]))
	}
	if q.contentType != "" {
		addHeader(c, "Content-Type: ", "content-type:", q.contentType)
	}
}

// encoding returns the Content-Encoding of a payload in chunks, followed by the object's encoding.
func (c *conn) encoding() string {
	for i, h := range c.pending {
		if h.Name == "content-encoding" {
			c.pending = slices.Delete(c.pending, i, i+1)
			return "aws-chunked," + h.Value
		}
	}
	return "aws-chunked"
}

// sorted returns fields and headers sorted by name. If a name occurs twice, the later one wins.
func (c *conn) sorted(fields []field, headers []store.Header) []field {
	if len(fields) == 0 && len(headers) == 0 {
		return nil
	}
	all := append(c.fields[:0], fields...)
	for _, h := range headers {
		at := len(all)
		for at > 0 && all[at-1].Name > h.Name {
			at--
		}
		if at > 0 && all[at-1].Name == h.Name {
			all[at-1] = field{Header: h}
		} else {
			all = slices.Insert(all, at, field{Header: h})
		}
	}
	c.fields = all
	return all
}

// appendPendingUpTo appends the request's own headers up to and including name. It reports whether
// name was among them.
func (c *conn) appendPendingUpTo(name string) (had bool) {
	for len(c.pending) > 0 && c.pending[0].Name <= name {
		h := &c.pending[0]
		c.pending = c.pending[1:]
		c.ask = append(appendTitle(c.ask, h.Name), ": "...)
		from := len(c.ask)
		c.ask = h.appendValue(c.ask, c.key)
		s := &c.signer
		s.text = append(append(s.text, h.Name...), ':')
		s.text = append(appendSqueezed(s.text, c.ask[from:]), '\n')
		c.ask = append(c.ask, "\r\n"...)
		s.names = append(append(s.names, h.Name...), ';')
		had = h.Name == name
	}
	return had
}

// appendTitle appends a header's name in title case.
func appendTitle(dst []byte, name string) []byte {
	first := true
	for i := range len(name) {
		c := name[i]
		if first && c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		first = c == '-'
		dst = append(dst, c)
	}
	return dst
}

// appendSqueezed appends a header's value in canonical form: words separated by single spaces.
func appendSqueezed(dst, value []byte) []byte {
	for word := range bytes.FieldsSeq(value) {
		dst = append(append(dst, word...), ' ')
	}
	return bytes.TrimSuffix(dst, []byte(" "))
}

// fitHeaders rejects headers that would break the request or that warp sets.
func fitHeaders(headers []store.Header) error {
	for _, h := range headers {
		for i := range len(h.Name) {
			if c := h.Name[i]; c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return store.Errorf("RequestFailed", 0, "%.60q is no name of a header", h.Name)
			}
		}
		for i := range len(h.Value) {
			if c := h.Value[i]; c < ' ' && c != '\t' || c == 0x7f {
				return store.Errorf("RequestFailed", 0, "the value of header %s has a control character", h.Name)
			}
		}
		switch h.Name {
		case "", "authorization", "connection", "content-length", "host", "transfer-encoding", "x-amz-content-sha256",
			"x-amz-date", "x-amz-decoded-content-length", s3.SessionToken, "x-amz-security-token":
			return store.Errorf("RequestFailed", 0, "header %q is warp's own", h.Name)
		}
	}
	return nil
}

// addHeader appends a header to the request and its canonical form, unless the request has its own.
func addHeader[T string | []byte](c *conn, name, canonical string, value T) {
	if len(c.pending) > 0 && c.appendPendingUpTo(canonical[:len(canonical)-1]) {
		return
	}
	s := &c.signer
	c.ask = append(append(append(c.ask, name...), value...), "\r\n"...)
	s.text = append(append(append(s.text, canonical...), value...), '\n')
	s.names = append(append(s.names, canonical[:len(canonical)-1]...), ';')
}

func (c *conn) appendCredential(names []byte) {
	h := append(c.ask, "Authorization: AWS4-HMAC-SHA256 Credential="...)
	h = append(append(h, c.signer.keys.AccessKey...), '/')
	h = append(h, c.signer.scope...)
	h = append(h, ", SignedHeaders="...)
	h = append(h, names...)
	c.ask = append(h, ", Signature="...)
}

// appendChunkHead appends the line that precedes a chunk.
func (s *signer) appendChunkHead(dst []byte, size int, signed bool) []byte {
	dst = strconv.AppendInt(dst, int64(size), 16)
	if signed {
		dst = append(dst, ";chunk-signature="...)
		dst = append(dst, s.last[:]...)
	}
	return append(dst, "\r\n"...)
}

// chunkHeadLen returns the length of that line.
func chunkHeadLen(size int, signed bool) int {
	var num [20]byte
	n := len(strconv.AppendInt(num[:0], int64(size), 16)) + len("\r\n")
	if signed {
		n += len(";chunk-signature=") + 64
	}
	return n
}

const trailerSignature = "x-amz-trailer-signature:"

// streamedLength returns the length of a payload in chunks, with a trailer line of the given
// length; 0 = no trailer.
func streamedLength(size int64, signed bool, trailer int) int64 {
	const end = int64(len("\r\n"))
	n := size + size/chunkSize*(int64(chunkHeadLen(chunkSize, signed))+end) + int64(chunkHeadLen(0, signed)) + end
	if rest := size % chunkSize; rest > 0 {
		n += int64(chunkHeadLen(int(rest), signed)) + end
	}
	if trailer > 0 {
		n += int64(trailer) - 1 + end
	}
	if trailer > 0 && signed {
		n += int64(len(trailerSignature)) + 64 + end
	}
	return n
}
