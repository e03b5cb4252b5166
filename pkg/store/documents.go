package store

import (
	"io"
	"sync/atomic"

	"warp/internal/human"
)

// MaxDocument limits the size of an answer that is kept in memory, such as a page of a listing. 1000
// names of 1 KiB, escaped, are 3 MiB.
const MaxDocument = 16 << 20

const (
	// maxDocuments limits what all documents at a time have in memory beyond freeDocument each, so
	// that many workers do not multiply the limit of one.
	maxDocuments = 128 << 20
	freeDocument = 2 << 20
)

// TooLong returns the error for a document of more than max bytes.
func TooLong(status int, max int64) *Error {
	return BadAnswer(status, "the answer's document is longer than %s", human.Bytes(float64(max)))
}

// Documents count the memory of the documents that are being received and read.
type Documents struct{ large atomic.Int64 }

// A Document counts the memory of one document and of what is read from it. The zero value belongs to
// no other documents. Free has to follow.
type Document struct {
	all  *Documents
	size int64
}

// New returns an empty document.
func (d *Documents) New() Document { return Document{all: d} }

// Grow counts n more bytes. It fails if the documents of all requests have become too large.
func (d *Document) Grow(n, status int) error {
	before := max(d.size-freeDocument, 0)
	more := max(d.size+int64(n)-freeDocument, 0) - before
	if more > 0 && d.all != nil && d.all.large.Add(more) > maxDocuments {
		d.all.large.Add(-more)
		return BadAnswer(status, "the documents of all answers at this moment need more than %s of memory together", human.Bytes(maxDocuments))
	}
	d.size += int64(n)
	return nil
}

// Reach counts the bytes up to a size of n.
func (d *Document) Reach(n, status int) error {
	if int64(n) <= d.size {
		return nil
	}
	return d.Grow(n-int(d.size), status)
}

// Free frees the memory.
func (d *Document) Free() {
	if large := d.size - freeDocument; d.all != nil && large > 0 {
		d.all.large.Add(-large)
	}
	d.size = 0
}

// Move returns the document, and leaves an empty one that belongs to no others.
func (d *Document) Move() Document {
	moved := *d
	*d = Document{}
	return moved
}

// Reader returns a reader of the document from r. What it reads counts.
func (d *Document) Reader(r io.Reader, status int) io.Reader {
	return &documentReader{r, d, status}
}

type documentReader struct {
	io.Reader
	document *Document
	status   int
}

func (r *documentReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if full := r.document.Grow(n, r.status); full != nil {
		return n, full
	}
	return n, err
}
