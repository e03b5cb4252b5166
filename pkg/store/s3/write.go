package s3

import (
	"context"
	"hash"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/s3/xmlscan"
)

// A state is the memory for building requests and reading documents that a connection lends.
type state struct {
	fields  []field   // of the request, in the order of their names
	pending []field   // the fields that are still to be appended
	sum     hash.Hash // the checksum of the upload
	scanner xmlscan.Scanner
	listing listing

	signer     signer
	second     int64  // the second when the signer got its time and credentials
	bucket     string // the signer's region is this bucket's
	generation uint32 // the generation of the regions
}

// A writer writes a request to a connection.
type writer struct {
	*httpclient.Conn
	*state
	e *Engine
	q *request
}

// Write signs the request and writes it, see [httpclient.Writer].
func (q *request) Write(ctx context.Context, c *httpclient.Conn, tr *store.Trace) error {
	w := writer{c, c.State().(*state), q.e, q}
	if err := w.prepareSigner(ctx); err != nil {
		return err
	}
	if to := q.Redirected(); to != nil {
		values, err := url.ParseQuery(to.RawQuery)
		if err != nil {
			return store.Errorf(store.CodeRedirect, int(tr.Status()), "the store redirects to parameters that cannot be read")
		}
		q.canonicalPath, q.canonicalQuery = httpclient.AppendPath(nil, to.Path), canonicalQuery(values)
	}
	return w.send(tr)
}

// prepareSigner sets the signer's time, credentials and region. It asks for credentials once per
// second, because they may expire.
func (c *writer) prepareSigner(ctx context.Context) (err error) {
	bucket, generation, second := c.q.bucket, c.e.regions.Generation(), c.Second()
	if c.second == second && c.bucket == bucket && c.generation == generation {
		return nil
	}
	if s3utils.CheckValidBucketName(bucket) != nil {
		return store.ErrUnsupported
	}
	keys := c.signer.keys
	if c.second != second || c.e.sessions != nil {
		c.signer.at(time.Now())
		if keys, err = c.e.identity(ctx, bucket); err != nil {
			return err
		}
	}
	region := c.e.region
	if region == "" && !keys.Anonymous() {
		if region, err = c.e.regions.Of(ctx, bucket); err != nil {
			return err
		}
	}
	c.signer.use(keys, region)
	c.second, c.bucket, c.generation = second, bucket, generation
	return nil
}

// send writes the request and waits for the answer.
func (c *writer) send(tr *store.Trace) error {
	q := c.q
	switch {
	case len(q.refs) > 0:
		return c.postDelete(tr)
	case q.Method != "PUT":
		q.payloadHash, q.contentLength = EmptyPayload, -1
		c.buildHead()
		tr.Sending()
		return c.SendLast(c.Head, tr, false)
	}
	q.contentLength = q.Size
	signed := !c.e.unsigned && !c.signer.anonymous()
	if signed && q.Size <= SignedWhole && !q.part && !q.trailer {
		return c.putHashed(tr)
	}
	if err := c.announceBody(); err != nil {
		return err
	}
	switch {
	case signed && q.trailer:
		q.payloadHash = signedTrailer
	case q.trailer:
		q.payloadHash = UnsignedTrailer
	case signed:
		q.payloadHash = streamingPayload
	default:
		q.payloadHash = UnsignedPayload
		c.buildHead()
		return c.SendBody(&q.Request, tr)
	}
	return c.putStreamed(tr)
}

// putHashed uploads a small object. Its payload is hashed before the head is signed.
func (c *writer) putHashed(tr *store.Trace) error {
	q := c.q
	data := c.Room(int(q.Size))
	if err := httpclient.ReadBody(q.Body, data, 0); err != nil {
		return err
	}
	q.payloadHash = ""
	c.signer.hash(data)
	if q.md5 {
		c.signer.hashMD5(data)
	}
	c.buildHead()
	tr.Sending()
	b, err := c.WithHead(data)
	if err != nil {
		return err
	}
	return c.SendLast(b, tr, q.Size > 0)
}

// chunkRoom is enough for the framing of a chunk: the line before it, the line end after it, and
// perhaps the last, empty chunk and the trailer.
const chunkRoom = 512

// putStreamed uploads the payload in chunks that are signed one by one, that a checksum follows, or
// both. It sends as many chunks at a time as fit into a piece.
func (c *writer) putStreamed(tr *store.Trace) error {
	q := c.q
	trailer := 0
	if q.trailer {
		c.beginSum()
		trailer = len(c.appendTrailerLine(c.signer.text[:0]))
	}
	q.contentLength = streamedLength(q.Size, q.signsChunks(), trailer)
	if q.signsChunks() && q.Size > SignedWhole {
		c.e.counters.HashedPayload.Add(q.Size)
	}
	c.buildHead()
	tr.Sending()
	piece := min(max(int64(c.Piece()), chunkSize), q.Size)
	for off := int64(0); ; {
		from := off
		b := c.Room(int(piece + (piece+chunkSize-1)/chunkSize*chunkRoom))[:0]
		for off < q.Size && off-from < piece {
			n := int(min(q.Size-off, chunkSize))
			var err error
			if b, err = c.appendChunk(b, off, n); err != nil {
				return err
			}
			off += int64(n)
		}
		if from == 0 {
			var err error
			if b, err = c.WithHead(b); err != nil {
				return err
			}
		}
		if off == q.Size {
			return c.SendLast(b, tr, true)
		}
		if err := c.Send(b); err != nil {
			return err
		}
	}
}

// appendChunk appends the chunk of n bytes at off, and the end of the stream after the last one.
// The payload is generated in place, after the line that contains its signature.
func (c *writer) appendChunk(b []byte, off int64, n int) ([]byte, error) {
	q := c.q
	s, signed := &c.signer, q.signsChunks()
	head := len(b)
	b = b[:head+chunkHeadLen(n, signed)+n]
	data := b[len(b)-n:]
	if err := httpclient.ReadBody(q.Body, data, off); err != nil {
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
	if off+int64(n) == q.Size {
		b = c.appendStreamEnd(b)
	}
	return b, nil
}

// appendStreamEnd appends the empty chunk that ends a payload, and the trailer.
func (c *writer) appendStreamEnd(b []byte) []byte {
	q := c.q
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

// postDelete sends the list of objects to delete.
func (c *writer) postDelete(tr *store.Trace) error {
	q := c.q
	b := append(c.Room(0), "<Delete><Quiet>false</Quiet>"...)
	for i := range q.refs {
		r := &q.refs[i]
		b = append(xmlscan.AppendText(append(b, "<Object><Key>"...), r.Key), "</Key>"...)
		if r.VersionID != "" {
			b = append(xmlscan.AppendText(append(b, "<VersionId>"...), r.VersionID), "</VersionId>"...)
		}
		b = append(b, "</Object>"...)
	}
	b = append(b, "</Delete>"...)
	q.payloadHash, q.contentLength = "", int64(len(b))
	c.signer.hash(b)
	c.signer.hashMD5(b)
	c.buildHead()
	if room := c.Room(len(b)); &room[0] != &b[0] { // it did not fit after the space for the head
		copy(room, b)
	}
	tr.Sending()
	b, err := c.WithHead(b)
	if err != nil {
		return err
	}
	return c.SendLast(b, tr, false)
}
