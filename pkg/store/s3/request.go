package s3

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// A request is a request being built. Its memory is reused. Parameters are added sorted by name, as
// in the canonical request. A request without a key is about the bucket itself.
type request struct {
	httpclient.Request
	e           *Engine
	bucket, key string
	fields      []field        // for the options, in the order of their names
	headers     []store.Header // for this request only
	part        bool           // the body is one part of an upload
	md5         bool           // send Content-MD5
	trailer     bool           // a checksum follows the body
	refs        []store.Ref    // objects to delete; the body is their list

	payloadHash    string // for x-amz-content-sha256; "" = the hash in signer.sum
	contentLength  int64  // on the wire; -1 = none
	canonicalPath  []byte // of the address to which the request was redirected; nil = it was not
	canonicalQuery string // likewise
}

var requests = sync.Pool{New: func() any { return new(request) }}

// begin returns a request about an object or, without a key, a bucket. end has to follow.
func (e *Engine) begin(method, bucket, key string) *request {
	q := requests.Get().(*request)
	q.e, q.bucket, q.key = e, bucket, key
	q.Begin(method, e.path)
	if !e.zonal {
		q.Raw("/")
		q.Raw(bucket)
	}
	q.Path(key)
	q.Writer, q.Follows = q, store.IsRedirect
	return q
}

// end ends the request and its reply, and releases the memory.
func (q *request) end() {
	q.Release()
	*q = request{Request: q.Request}
	requests.Put(q)
}

func (q *request) version(ref *store.Ref) {
	if ref.VersionID != "" {
		q.Param("versionId", ref.VersionID)
	}
}

// streamed reports whether the payload is sent in chunks.
func (q *request) streamed() bool {
	switch q.payloadHash {
	case streamingPayload, signedTrailer, UnsignedTrailer:
		return true
	}
	return false
}

// signsChunks reports whether the chunks are signed.
func (q *request) signsChunks() bool { return q.payloadHash != UnsignedTrailer }

// takes reports whether this engine sends requests for an object of that name. It leaves unusual names to
// minio-go, which rejects some of them with its own messages.
func takes(key string) bool {
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

// buildHead builds the request's head in c.Head and signs it. It also builds the canonical request
// in the signer's memory. The headers of both are sorted by name.
func (c *writer) buildHead() {
	q := c.q
	h := append(append(c.Head[:0], q.Method...), ' ')
	from := len(h)
	h, path := q.appendTarget(h)
	target := len(h)
	h = c.AppendProto(h)
	if q.contentLength >= 0 {
		h = append(h, "Content-Length: "...)
		h = strconv.AppendInt(h, q.contentLength, 10)
		h = append(h, "\r\n"...)
	}
	s := &c.signer
	text := append(append(s.text[:0], q.Method...), '\n')
	text = append(append(text, h[from:path]...), '\n')
	if target > path {
		text = append(text, h[path+1:target]...)
	}
	s.text = append(text, '\n')
	c.Head = h
	c.appendHeaders()
	if !s.anonymous() {
		s.sign()
		c.Head = append(append(c.Head, s.last[:]...), "\r\n"...)
	}
	c.Head = append(c.Head, "\r\n"...)
}

// appendTarget appends path and parameters, and returns where the path ends.
func (q *request) appendTarget(h []byte) (all []byte, path int) {
	if q.canonicalPath != nil {
		h = append(h, q.canonicalPath...)
		path = len(h)
		if q.canonicalQuery != "" {
			h = append(append(h, '?'), q.canonicalQuery...)
		}
		return h, path
	}
	target, end := q.Target()
	return append(h, target...), len(h) + end
}

// appendHeaders appends the signed headers, up to the signature.
func (c *writer) appendHeaders() {
	q := c.q
	s := &c.signer
	s.names, c.pending = s.names[:0], c.sorted(q.fields, q.headers)
	var sum [64]byte
	hash := append(sum[:0], q.payloadHash...)
	if q.payloadHash == "" {
		hash = appendHex(hash, &s.sum)
	}
	c.appendContentHeaders()
	c.appendPendingUpTo("host")
	s.text = append(append(append(s.text, "host:"...), c.Host()...), '\n')
	s.names = append(s.names, "host;"...)
	if q.Length > 0 {
		var num [64]byte
		span := append(strconv.AppendInt(append(num[:0], "bytes="...), q.Offset, 10), '-')
		addHeader(c, "Range: ", "range:", strconv.AppendInt(span, q.Offset+q.Length-1, 10))
	}
	if q.Keeps != "" && q.Method == "GET" {
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
		addHeader(c, "X-Amz-Decoded-Content-Length: ", "x-amz-decoded-content-length:", strconv.AppendInt(num[:0], q.Size, 10))
	}
	switch {
	case s.keys.Signature == SignExpress:
		addHeader(c, "X-Amz-S3session-Token: ", SessionToken+":", s.keys.SessionToken)
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
func (c *writer) appendContentHeaders() {
	q := c.q
	if q.streamed() {
		addHeader(c, "Content-Encoding: ", "content-encoding:", c.encoding())
	}
	if q.md5 || len(q.refs) > 0 {
		var sum [24]byte
		addHeader(c, "Content-Md5: ", "content-md5:", base64.StdEncoding.AppendEncode(sum[:0], c.signer.md5Sum[:]))
	}
	if q.ContentType != "" {
		addHeader(c, "Content-Type: ", "content-type:", q.ContentType)
	}
}

// encoding returns the Content-Encoding of a payload in chunks, followed by the object's encoding.
func (c *writer) encoding() string {
	for i, h := range c.pending {
		if h.Name == "content-encoding" {
			c.pending = slices.Delete(c.pending, i, i+1)
			return "aws-chunked," + h.Value
		}
	}
	return "aws-chunked"
}

// sorted returns fields and headers sorted by name. If a name occurs twice, the later one wins.
func (c *writer) sorted(fields []field, headers []store.Header) []field {
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
func (c *writer) appendPendingUpTo(name string) (had bool) {
	for len(c.pending) > 0 && c.pending[0].Name <= name {
		h := &c.pending[0]
		c.pending = c.pending[1:]
		c.Head = append(httpclient.AppendTitle(c.Head, h.Name), ": "...)
		from := len(c.Head)
		c.Head = h.appendValue(c.Head, c.q.key)
		s := &c.signer
		s.text = append(append(s.text, h.Name...), ':')
		s.text = append(appendSqueezed(s.text, c.Head[from:]), '\n')
		c.Head = append(c.Head, "\r\n"...)
		s.names = append(append(s.names, h.Name...), ';')
		had = h.Name == name
	}
	return had
}

// appendSqueezed appends a header's value in canonical form: words separated by single spaces.
func appendSqueezed(dst, value []byte) []byte {
	for word := range bytes.FieldsSeq(value) {
		dst = append(append(dst, word...), ' ')
	}
	return bytes.TrimSuffix(dst, []byte(" "))
}

// addHeader appends a header to the request and its canonical form, unless the request has its own.
func addHeader[T string | []byte](c *writer, name, canonical string, value T) {
	if len(c.pending) > 0 && c.appendPendingUpTo(canonical[:len(canonical)-1]) {
		return
	}
	s := &c.signer
	c.Head = append(append(append(c.Head, name...), value...), "\r\n"...)
	s.text = append(append(append(s.text, canonical...), value...), '\n')
	s.names = append(append(s.names, canonical[:len(canonical)-1]...), ';')
}

func (c *writer) appendCredential(names []byte) {
	h := append(c.Head, "Authorization: AWS4-HMAC-SHA256 Credential="...)
	h = append(append(h, c.signer.keys.AccessKey...), '/')
	h = append(h, c.signer.scope...)
	h = append(h, ", SignedHeaders="...)
	h = append(h, names...)
	c.Head = append(h, ", Signature="...)
}

// chunkSize is the payload of a signed chunk, as in minio-go.
const chunkSize = 64 << 10

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

// canonicalQuery returns all parameters, escaped and in the order in which they are signed.
func canonicalQuery(values url.Values) string {
	var all [][2]string
	for name, list := range values {
		for _, value := range list {
			all = append(all, [2]string{string(httpclient.AppendEscaped(nil, name)), string(httpclient.AppendEscaped(nil, value))})
		}
	}
	slices.SortFunc(all, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var text []byte
	for i, p := range all {
		if i > 0 {
			text = append(text, '&')
		}
		text = append(append(append(text, p[0]...), '='), p[1]...)
	}
	return string(text)
}
