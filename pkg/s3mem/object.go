package s3mem

import (
	"crypto/md5"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// objectOverhead is the memory of an object besides its payload and its key: the struct, its place
// in the index, and the overhead of the allocator and the garbage collector.
const objectOverhead = 192

// An object is immutable once it is stored, so that a GET may read it while it is overwritten or deleted.
type object struct {
	key      string
	parts    [][]byte // as uploaded; joining them would briefly take twice the memory
	size     int64
	md5      [16]byte // MD5 of the payload, or of the parts' digests after a multipart upload
	nParts   int32    // 0 for an object uploaded with one request
	modified time.Time
	meta     []header
	extra    *extra // nil for most objects
}

type header struct{ name, value string }

// footprint returns the memory that an object takes.
func (o *object) footprint() int64 {
	n := int64(objectOverhead+len(o.key)) + o.extra.footprint()
	for _, p := range o.parts {
		n += int64(cap(p)) + 24
	}
	for _, h := range o.meta {
		n += int64(len(h.name)+len(h.value)) + 32
	}
	return n
}

func (o *object) etag() string {
	s := hex.EncodeToString(o.md5[:])
	if o.nParts > 0 {
		s += "-" + strconv.Itoa(int(o.nParts))
	}
	return `"` + s + `"`
}

// etagHeader carries the ETag of a multipart object through gofakes3, which supports only a plain
// MD5. answer turns it into the ETag.
const etagHeader = "X-Warp-Etag"

// describe converts the object without its contents for gofakes3.
func (o *object) describe() *gofakes3.Object {
	meta := make(map[string]string, len(o.meta)+2)
	for _, h := range o.meta {
		meta[h.name] = h.value
	}
	meta["Last-Modified"] = o.modified.UTC().Format(http.TimeFormat)
	if o.nParts > 0 {
		meta[etagHeader] = o.etag()
	}
	return &gofakes3.Object{VersionID: o.version(), IsDeleteMarker: o.isMarker(), Name: o.key, Metadata: meta, Size: o.size, Hash: o.md5[:], Contents: io.NopCloser(http.NoBody)}
}

// open converts the object with the contents of a range, or with all of it if the range is nil, for
// gofakes3.
func (o *object) open(rng *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	r, err := rng.Range(o.size)
	if err != nil {
		return nil, err
	}
	d := o.describe()
	d.Range = r
	start, length := int64(0), o.size
	if r != nil {
		start, length = r.Start, r.Length
	}
	d.Contents = &contents{parts: o.parts, skip: start, left: length}
	return d, nil
}

// contents reads a range of an object. It writes whole parts to the connection instead of copying
// them through a buffer.
type contents struct {
	parts      [][]byte
	skip, left int64
}

func (c *contents) next() []byte {
	for len(c.parts) > 0 && c.left > 0 {
		p := c.parts[0]
		c.parts = c.parts[1:]
		if c.skip >= int64(len(p)) {
			c.skip -= int64(len(p))
			continue
		}
		p = p[c.skip:]
		c.skip = 0
		p = p[:min(int64(len(p)), c.left)]
		c.left -= int64(len(p))
		return p
	}
	return nil
}

func (c *contents) WriteTo(w io.Writer) (n int64, err error) {
	for p := c.next(); p != nil && err == nil; p = c.next() {
		var k int
		k, err = w.Write(p)
		n += int64(k)
	}
	return n, err
}

func (c *contents) Read(p []byte) (int, error) {
	b := c.next()
	if b == nil {
		return 0, io.EOF
	}
	n := copy(p, b)
	if n < len(b) {
		c.parts = append([][]byte{b[n:]}, c.parts...)
		c.left += int64(len(b) - n)
	}
	return n, nil
}

func (c *contents) Close() error { return nil }

// keptMeta selects the headers of an upload that a download returns. gofakes3 keeps every X-Amz
// header, including the request's signature, which would take more memory than a small object.
func keptMeta(meta map[string]string) []header {
	var kept []header
	for k, v := range meta {
		switch {
		case k == "Content-Type" && v == "application/octet-stream":
			kept = append(kept, header{"Content-Type", "application/octet-stream"})
		case strings.HasPrefix(k, "X-Amz-Meta-"), strings.HasPrefix(k, "Content-"):
			kept = append(kept, header{strings.Clone(k), strings.Clone(v)})
		}
	}
	return kept
}

// readBody reads exactly size bytes, and returns their MD5.
func readBody(r io.Reader, size int64) (body []byte, sum [md5.Size]byte, err error) {
	// Grow returns the whole block of the allocator, so that cap is the object's cost.
	body = slices.Grow([]byte(nil), int(size))[:size]
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, sum, incomplete(err)
	}
	// The layers below check the hash at the end of the stream, so read up to it.
	var extra [1]byte
	if n, err := io.ReadFull(r, extra[:]); n != 0 {
		return nil, sum, gofakes3.ErrIncompleteBody
	} else if err != io.EOF {
		return nil, sum, err
	}
	if h, ok := r.(interface{ Sum([]byte) []byte }); ok && copy(sum[:], h.Sum(nil)) > 0 {
		return body, sum, nil // gofakes3 has computed it
	}
	return body, md5.Sum(body), nil
}

func incomplete(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return gofakes3.ErrIncompleteBody
	}
	return err
}
