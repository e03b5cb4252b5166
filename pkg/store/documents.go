package store

import "sync/atomic"

// MaxDocument limits the size of an answer that is kept in memory, such as a page of a listing. 1000
// names of 1 KiB, escaped, are 3 MiB.
const MaxDocument = 16 << 20

const (
	// maxDocuments limits what all documents at a time have in memory beyond freeDocument each, so
	// that many workers do not multiply the limit of one.
	maxDocuments = 128 << 20
	freeDocument = 1 << 20
)

// Documents count the memory of the documents that are being received and read.
type Documents struct{ large atomic.Int64 }

// A Document counts the memory of one document. Free has to follow.
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
	if more > 0 && d.all.large.Add(more) > maxDocuments {
		d.all.large.Add(-more)
		return BadAnswer(status, "the documents of all answers at this moment are longer than %d bytes together", maxDocuments)
	}
	d.size += int64(n)
	return nil
}

// Free frees the memory.
func (d *Document) Free() {
	if large := d.size - freeDocument; d.all != nil && large > 0 {
		d.all.large.Add(-large)
	}
	d.size = 0
}
