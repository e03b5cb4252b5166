package lean

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/lean/answer"
	"warp/pkg/store/s3"
)

// exchange sends a request and receives the head of the answer.
func (c *conn) exchange(ctx context.Context, q *request, tr *store.Trace) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.prepare(ctx, q); err != nil {
		return err
	}
	// A GET needs no check first: if the connection has died, the request is sent again.
	c.livenessSkipped = q.idempotent() && c.justAnswered(tr)
	c.sock.checkFirst = c.reused && (q.mutates() && !c.livenessSkipped || c.idle.Load())
	c.idle.Store(false)
	err := c.transmit(q, tr)
	if c.sock.begun {
		tr.Requested()
	}
	if err != nil && c.sock.begun && !c.answered && q.body != nil && !isOwn(err) {
		// A store that refuses an upload may say why before it hangs up.
		c.broken = true
		c.sock.abandon()
		c.acquireMemory()
		if c.fill(tr) == nil {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	if err := c.readHead(tr, q.keeps()); err != nil {
		return err
	}
	if tr != nil {
		tr.Answered(c.head.Status)
		c.answeredAt = tr.Base().Add(tr.FirstByte())
	}
	return nil
}

// prepare lends memory to the connection and prepares the signer for a request of S3.
func (c *conn) prepare(ctx context.Context, q *request) error {
	if q.call != nil {
		c.acquireMemory()
		return nil
	}
	if err := c.findRegion(ctx, q.ref.Bucket); err != nil {
		return err
	}
	c.acquireMemory()
	return c.prepareSigner(ctx, q.ref.Bucket)
}

// livenessWindow is how soon after an answer a request has to begin for the connection to count as
// still alive. Checking it takes a system call, which is a twentieth of the cost of a small upload.
const livenessWindow = time.Millisecond

func (c *conn) justAnswered(tr *store.Trace) bool {
	return tr != nil && tr.Base().Sub(c.answeredAt) < livenessWindow
}

// isOwn reports whether the error comes from the payload rather than the connection.
func isOwn(err error) bool {
	var own *store.Error
	return errors.As(err, &own)
}

func (c *conn) transmit(q *request, tr *store.Trace) error {
	switch {
	case q.call != nil:
		return c.transmitCall(q, tr)
	case len(q.refs) > 0:
		return c.postDelete(q, tr)
	case q.method != "PUT":
		q.payloadHash, q.contentLength = s3.EmptyPayload, -1
		c.buildHead(q)
		tr.Sending()
		return c.sendAndAwait(c.ask, tr, false)
	}
	q.contentLength = q.size
	signed := !c.e.unsigned && !c.signer.anonymous()
	if signed && q.size <= s3.SignedWhole && !q.part && !q.trailer {
		return c.putHashed(q, tr)
	}
	if err := c.announceBody(q); err != nil {
		return err
	}
	switch {
	case signed && q.trailer:
		q.payloadHash = signedTrailer
	case q.trailer:
		q.payloadHash = unsignedTrailer
	case signed:
		q.payloadHash = streamingPayload
	default:
		q.payloadHash = unsignedPayload
		return c.putPlain(q, tr)
	}
	return c.putStreamed(q, tr)
}

// payloadRoom makes c.out large enough for a head and n bytes, and returns the n bytes.
func (c *conn) payloadRoom(n int) []byte {
	if len(c.out) < headRoom+n {
		c.out = make([]byte, headRoom+n)
	}
	return c.out[headRoom : headRoom+n]
}

// withHead puts the head in front of the payload in c.out, so that both are sent at once. It sends
// a head that is too long first.
func (c *conn) withHead(payload []byte) ([]byte, error) {
	if len(c.ask) > headRoom {
		return payload, c.send(c.ask)
	}
	from := headRoom - len(c.ask)
	copy(c.out[from:], c.ask)
	return c.out[from : headRoom+len(payload)], nil
}

func readBody(b store.Body, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := b.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = payloadEnds(off + int64(n))
	}
	return err
}

func payloadEnds(off int64) error {
	return store.Errorf("RequestFailed", 0, "the payload ends after %d bytes, before its size", off)
}

// putHashed uploads a small object. Its payload is hashed before the head is signed.
func (c *conn) putHashed(q *request, tr *store.Trace) error {
	data := c.payloadRoom(int(q.size))
	if err := readBody(q.body, data, 0); err != nil {
		return err
	}
	q.payloadHash = ""
	c.signer.hash(data)
	if q.md5 {
		c.signer.hashMD5(data)
	}
	c.buildHead(q)
	tr.Sending()
	b, err := c.withHead(data)
	if err != nil {
		return err
	}
	return c.sendAndAwait(b, tr, q.size > 0)
}

// putPlain uploads the payload without a signature. A PieceBody sends its content from where it is
// in memory; anything before that is copied piece by piece.
func (c *conn) putPlain(q *request, tr *store.Trace) error {
	c.buildHead(q)
	tr.Sending()
	return c.sendPlain(q, tr)
}

// sendPlain sends the head, if there is one in c.ask, and the payload.
func (c *conn) sendPlain(q *request, tr *store.Trace) error {
	computed := q.size
	pieces, ok := q.body.(store.PieceBody)
	if ok = ok && sendsPieces && c.tls == nil; ok {
		computed = min(pieces.InMemoryFrom(), q.size)
	}
	for off := int64(0); ; {
		end := min(computed, off+int64(c.e.piece))
		b := c.payloadRoom(int(end - off))
		err := readBody(q.body, b, off)
		if err == nil && off == 0 {
			b, err = c.withHead(b)
		}
		if err != nil {
			return err
		}
		if off = end; off < computed {
			if err := c.send(b); err != nil {
				return err
			}
			continue
		}
		if ok {
			c.sock.follow(pieces, off, q.size)
		}
		return c.sendAndAwait(b, tr, q.size > 0 && (q.call == nil || q.call.Payload))
	}
}

// chunkRoom is enough for the framing of a chunk: the line before it, the line end after it, and
// perhaps the last, empty chunk and the trailer.
const chunkRoom = 512

// putStreamed uploads the payload in chunks that are signed one by one, that a checksum follows, or
// both. It sends as many chunks at a time as fit into a piece.
func (c *conn) putStreamed(q *request, tr *store.Trace) error {
	trailer := 0
	if q.trailer {
		c.beginSum()
		trailer = len(c.appendTrailerLine(c.signer.text[:0]))
	}
	q.contentLength = streamedLength(q.size, q.signsChunks(), trailer)
	if q.signsChunks() && q.size > s3.SignedWhole {
		c.e.counters.HashedPayload.Add(q.size)
	}
	c.buildHead(q)
	tr.Sending()
	piece := min(max(int64(c.e.piece), chunkSize), q.size)
	for off := int64(0); ; {
		from := off
		b := c.payloadRoom(int(piece + (piece+chunkSize-1)/chunkSize*chunkRoom))[:0]
		for off < q.size && off-from < piece {
			n := int(min(q.size-off, chunkSize))
			var err error
			if b, err = c.appendChunk(b, q, off, n); err != nil {
				return err
			}
			off += int64(n)
		}
		if from == 0 {
			var err error
			if b, err = c.withHead(b); err != nil {
				return err
			}
		}
		if off == q.size {
			return c.sendAndAwait(b, tr, true)
		}
		if err := c.send(b); err != nil {
			return err
		}
	}
}

// appendChunk appends the chunk of n bytes at off, and the end of the stream after the last one.
// The payload is generated in place, after the line that contains its signature.
func (c *conn) appendChunk(b []byte, q *request, off int64, n int) ([]byte, error) {
	s, signed := &c.signer, q.signsChunks()
	head := len(b)
	b = b[:head+chunkHeadLen(n, signed)+n]
	data := b[len(b)-n:]
	if err := readBody(q.body, data, off); err != nil {
		return nil, err
	}
	if q.trailer {
		c.sum.Write(data)
	}
	if signed {
		s.signChunk(data)
	}
	s.appendChunkHead(b[:head], n, signed)
	b = append(b, "\r\n"...)
	if off+int64(n) == q.size {
		b = c.appendStreamEnd(b, q)
	}
	return b, nil
}

// appendStreamEnd appends the empty chunk that ends a payload, and the trailer.
func (c *conn) appendStreamEnd(b []byte, q *request) []byte {
	s, signed := &c.signer, q.signsChunks()
	if signed {
		s.signChunk(nil)
	}
	b = s.appendChunkHead(b, 0, signed)
	if q.trailer {
		from := len(b)
		b = c.appendTrailerLine(b)
		if signed {
			s.signTrailer(b[from:])
		}
		b = append(b[:len(b)-len("\n")], "\r\n"...)
		if signed {
			b = append(append(append(b, trailerSignature...), s.last[:]...), "\r\n"...)
		}
	}
	return append(b, "\r\n"...)
}

// A stringCache holds strings and the time of the latest answers, because the next answer often
// contains the same.
type stringCache struct {
	etag, version string
	date          []byte // Last-Modified
	modified      time.Time
}

func (c *conn) etagString(tr *store.Trace) string {
	b := bytes.Trim(c.head.ETag, `"`)
	switch {
	case string(b) == tr.ExpectedETag():
		return tr.ExpectedETag()
	case string(b) != c.objects.etag:
		c.objects.etag = string(b)
	}
	return c.objects.etag
}

func (c *conn) versionString(asked string) string {
	switch b := c.head.Version; {
	case string(b) == asked:
		return asked
	case string(b) != c.objects.version:
		c.objects.version = string(b)
	}
	return c.objects.version
}

// object returns the object that the answer's head describes, by minio-go's rules.
func (c *conn) object(ref *store.Ref, tr *store.Trace) (store.Object, error) {
	h := &c.head
	modified := c.objects.modified
	if !bytes.Equal(c.objects.date, h.Modified) || len(h.Modified) == 0 {
		var err error
		if modified, err = lastModified(h.Modified); err != nil {
			return store.Object{}, store.Errorf("InternalError", h.Status, "Last-Modified is no time: %q", h.Modified)
		}
		c.objects.date, c.objects.modified = append(c.objects.date[:0], h.Modified...), modified
	}
	if len(h.SourceTime) > 0 {
		var err error
		if modified, err = time.Parse(time.RFC3339Nano, string(h.SourceTime)); err != nil {
			return store.Object{}, store.Errorf("InternalError", h.Status, "X-Minio-Source-Mtime is no time: %q", h.SourceTime)
		}
	}
	o := store.Object{Ref: *ref, Size: h.Length, LastModified: modified, DeleteMarker: h.DeleteMarker, HasMetadata: h.HasMetadata}
	if h.Chunked {
		o.Size = -1
	}
	o.ETag, o.VersionID = c.etagString(tr), c.versionString(ref.VersionID)
	return o, nil
}

// lastModified parses Last-Modified in the forms that minio-go accepts.
func lastModified(b []byte) (t time.Time, err error) {
	if t, ok := answer.ParseDate(b); ok {
		return t, nil
	}
	for _, layout := range []string{"Mon, 2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 06 15:04:05 GMT"} {
		if t, err = time.Parse(layout, string(b)); err == nil {
			return t, nil
		}
	}
	return t, err
}

// refused turns an answer other than success into an error.
func (e *Engine) refused(ctx context.Context, c *conn, q *request, tr *store.Trace) error {
	if _, err := c.receiveBody(tr, q.method, sink{keep: s3.MaxErrorDocument}); err != nil {
		return e.failed(ctx, c, err, tr)
	}
	resp := refusal(&c.head, c.kept, q.ref.Key)
	err := s3.ResponseError(resp, c.head.Status)
	switch resp.Code {
	case "AuthorizationHeaderMalformed", "InvalidRegion", "AccessDenied", "PermanentRedirect", "TemporaryRedirect":
		if e.region == "" && resp.Region != "" {
			e.regions.Learn(q.ref.Bucket, resp.Region)
		}
	}
	if e.sessions != nil && (c.head.Status == 400 || c.head.Status == 401 || c.head.Status == 403) {
		e.sessions.Doubt(q.ref.Bucket)
	}
	// If a store has not read all of an upload, it would take the rest for another request.
	c.release()
	return err
}

// refusal interprets an answer as minio-go does, so that both engines report the same codes.
func refusal(h *answer.Head, doc []byte, key string) minio.ErrorResponse {
	resp := minio.ErrorResponse{StatusCode: h.Status}
	if xml.NewDecoder(bytes.NewReader(doc)).Decode(&resp) != nil {
		resp = withoutDocument(h, bytes.TrimSpace(doc), key)
	}
	if len(h.Code) > 0 {
		resp.Code = string(h.Code)
	}
	if len(h.Message) > 0 {
		resp.Message = strings.Trim(string(h.Message), `"`)
	}
	if resp.Region = strings.TrimSpace(resp.Region); resp.Region == "" {
		resp.Region = string(h.Region)
	}
	if resp.Code == "InvalidRegion" && resp.Region != "" {
		resp.Message = fmt.Sprintf("Region does not match, expecting region ‘%s’.", resp.Region)
	}
	return resp
}

func withoutDocument(h *answer.Head, doc []byte, key string) minio.ErrorResponse {
	resp := minio.ErrorResponse{StatusCode: h.Status}
	switch {
	case h.Status == 404 && key == "":
		resp.Code, resp.Message = minio.NoSuchBucket, "The specified bucket does not exist."
	case h.Status == 404:
		resp.Code, resp.Message = minio.NoSuchKey, "The specified key does not exist."
	case h.Status == 403:
		resp.Code, resp.Message = minio.AccessDenied, "Access Denied."
	case h.Status == 409:
		resp.Code, resp.Message = minio.Conflict, "Bucket not empty."
	case h.Status == 412:
		resp.Code, resp.Message = minio.PreconditionFailed, "At least one of the pre-conditions you specified did not hold."
	default:
		resp.Code, resp.Message = string(h.Text), string(doc)
		if resp.Message == "" {
			resp.Message = resp.Code
		}
	}
	return resp
}
