package lean

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// A request is a request before it is on the wire.
type request struct {
	method        string
	ref           store.Ref // no key means the bucket itself
	params        [8]param
	count         int            // of params
	fields        []field        // that the options ask for, in the order of their names
	headers       []store.Header // of this request only
	offset        int64          // of a GET's range
	length        int64          // 0 = no range
	body          store.Body     // of a PUT
	size          int64
	contentType   string      // "" = none
	part          bool        // the body is one part of an upload
	checksums     bool        // keep the checksums of the answer, for which a GET has to ask
	md5           bool        // send Content-MD5
	trailer       bool        // a checksum follows the body
	refs          []store.Ref // to be deleted: the body is their list
	payloadHash   string      // for x-amz-content-sha256; "" = the hash in signer.sum
	contentLength int64       // on the wire; -1 = none
}

// A param is one parameter behind the path. They are given in the order of
// their names, which is that of the canonical request.
type param struct {
	name, value string
	number      int // instead of a value
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

// streamed says whether the payload goes out in chunks.
func (q *request) streamed() bool {
	switch q.payloadHash {
	case streamingPayload, signedTrailer, unsignedTrailer:
		return true
	}
	return false
}

// signsChunks says whether those are signed.
func (q *request) signsChunks() bool { return q.payloadHash != unsignedTrailer }

// changes says whether the request does something to the store, so that it is
// not to be sent twice.
func (q *request) mutates() bool { return q.method != "GET" && q.method != "HEAD" }

// repeats says whether the request is an upload that is the same when it is
// done twice, and takes one call to send.
func (q *request) idempotent() bool {
	return q.method == "PUT" && q.size <= s3.SignedWhole && len(q.headers) == 0 && len(q.refs) == 0
}

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
		if unreserved[c] && (slash || c != '/') {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// unreserved are the characters that stand for themselves, in paths at least.
var unreserved = func() (is [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/" {
		is[c] = true
	}
	return is
}()

// buildHead makes the request's head in c.ask and signs it. The canonical
// request grows beside it, in the signer's memory; headers are in the order of
// their names in both.
func (c *conn) buildHead(q *request) {
	h := append(append(c.ask[:0], q.method...), " /"...)
	from := len(h) - 1
	h = append(append(h, q.ref.Bucket...), '/')
	h = appendEscaped(h, q.ref.Key, true)
	path := len(h)
	h = appendParams(h, q)
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
	if !c.appendSameHeaders(q) {
		c.appendHeaders(q)
	}
	if !s.anonymous() {
		s.sign()
		c.ask = append(append(c.ask, s.last[:]...), "\r\n"...)
	}
	c.ask = append(c.ask, "\r\n"...)
}

// headerCache are the headers of the latest request that needs no others than
// requests of its kind do within a second, up to the signature; and how the
// canonical request ends with them.
type headerCache struct {
	kind      headerKind
	ask, text []byte
}

// A headerKind is what such headers depend on.
type headerKind struct {
	epoch                    uint32 // the signer's
	payloadHash, contentType string
	fields                   *field // the first one
	checksums                bool
}

// kind tells what q's headers depend on; false where that is more than a
// headerKind says.
func (c *conn) kind(q *request) (k headerKind, ok bool) {
	if len(q.headers) > 0 || len(q.refs) > 0 || q.payloadHash == "" || q.length > 0 || q.md5 || q.streamed() || c.signer.anonymous() {
		return k, false
	}
	if len(q.fields) > 0 {
		k.fields = &q.fields[0]
	}
	for i := range q.fields {
		if f := &q.fields[i]; f.random != nil || f.tags != nil {
			return k, false
		}
	}
	k.epoch, k.payloadHash, k.contentType = c.signer.epoch, q.payloadHash, q.contentType
	k.checksums = q.checksums && q.method == "GET"
	return k, true
}

// appendSameHeaders is appendHeaders for a request that mostly has the headers
// of the one before.
func (c *conn) appendSameHeaders(q *request) bool {
	kind, ok := c.kind(q)
	if !ok {
		return false
	}
	s, same := &c.signer, &c.same
	if same.kind == kind {
		c.ask, s.text = append(c.ask, same.ask...), append(s.text, same.text...)
		return true
	}
	ask, text := len(c.ask), len(s.text)
	c.appendHeaders(q)
	same.kind = kind
	same.ask, same.text = append(same.ask[:0], c.ask[ask:]...), append(same.text[:0], s.text[text:]...)
	return true
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

// appendHeaders appends the headers that are signed, up to the signature.
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
	if s.value.SessionToken != "" {
		addHeader(c, "X-Amz-Security-Token: ", "x-amz-security-token:", s.value.SessionToken)
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

// appendContentHeaders appends the headers that say what the body is.
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

// encoding is the Content-Encoding of a payload in signed chunks, before any
// encoding that the object has itself.
func (c *conn) encoding() string {
	for i, h := range c.pending {
		if h.Name == "content-encoding" {
			c.pending = slices.Delete(c.pending, i, i+1)
			return "aws-chunked," + h.Value
		}
	}
	return "aws-chunked"
}

// sorted returns fields and headers in the order of their names; of two with
// the same name the later counts.
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

// furtherUpTo appends those of the request's own headers that come before the
// one named, or are it. It says whether the latter was among them.
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

// appendTitle appends a header's name in the way that names are mostly written.
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

// appendSqueezed appends a header's value in its canonical form: with single
// blanks, and none around.
func appendSqueezed(dst, value []byte) []byte {
	for word := range bytes.FieldsSeq(value) {
		dst = append(append(dst, word...), ' ')
	}
	return bytes.TrimSuffix(dst, []byte(" "))
}

// fitHeaders refuses headers that would be something else on the wire.
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
			"x-amz-date", "x-amz-decoded-content-length", "x-amz-security-token":
			return store.Errorf("RequestFailed", 0, "header %q is warp's own", h.Name)
		}
	}
	return nil
}

// addHeader appends one header to the request and to its canonical form, unless
// the request has one of that name of its own.
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
	h = append(append(h, c.signer.value.AccessKeyID...), '/')
	h = append(h, c.signer.scope...)
	h = append(h, ", SignedHeaders="...)
	h = append(h, names...)
	c.ask = append(h, ", Signature="...)
}

// appendChunkHead appends the line before a chunk.
func (s *signer) appendChunkHead(dst []byte, size int, signed bool) []byte {
	dst = strconv.AppendInt(dst, int64(size), 16)
	if signed {
		dst = append(dst, ";chunk-signature="...)
		dst = append(dst, s.last[:]...)
	}
	return append(dst, "\r\n"...)
}

// chunkHeadLen is how long that line is.
func chunkHeadLen(size int, signed bool) int {
	var num [20]byte
	n := len(strconv.AppendInt(num[:0], int64(size), 16)) + len("\r\n")
	if signed {
		n += len(";chunk-signature=") + 64
	}
	return n
}

const trailerSignature = "x-amz-trailer-signature:"

// streamedLength is how long a payload of the given size is in chunks, with a
// trailer of which the line has the given length; 0 = none.
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
