// Package replay plans how the requests of an op log are sent again: when each is due, on which object and after which others, and
// which objects must exist before. It also counts how well a replay kept to its plan. It sends nothing.
package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"warp/internal/tempfile"
	"warp/pkg/oplog"
)

// A Kind is what a request does.
type Kind uint8

// The kinds of requests that can be sent again.
const (
	Get Kind = iota
	Stat
	Put
	Delete
	Upload   // in parts
	Download // in ranges
	Kinds    = int(Download) + 1
)

// Names are the operations of the kinds in a log.
func Names() [Kinds]string {
	return [Kinds]string{"GET", "STAT", "PUT", "DELETE", "UPLOAD", "DOWNLOAD"}
}

func (k Kind) String() string { return Names()[k] }

// Writes reports whether a request of this kind changes its object.
func (k Kind) Writes() bool { return k == Put || k == Delete || k == Upload }

// A Request is a request to be sent again.
type Request struct {
	Kind   Kind
	Object uint32 // index of Plan.Objects
	// After says which earlier requests of the object must have ended: for a request that writes, that many of all; for one that
	// reads, that many of those that write.
	After uint32
	// Size is the number of bytes: of a PUT or an upload in parts, or those that a GET received.
	Size  int64
	Parts int   // of Upload and Download
	Part  int64 // their size; the last one may be smaller
}

// An Object is an object that requests of the plan are about.
type Object struct {
	Prepare bool  // it is read or deleted before it is written
	Size    int64 // as far as Prepare needs it
}

// A Plan is what a replay sends. It must be closed. The requests are in a temporary file; memory is needed for the objects, about
// 150 bytes each.
type Plan struct {
	Objects  []Object
	Counts   [Kinds]int64  // requests by kind
	Length   time.Duration // from the first request to the last one, at Speed
	Speed    float64
	Prepared int64 // objects to be uploaded first, and their bytes
	Bytes    int64
	Written  int64 // bytes that the requests upload
	Threads  int   // that the log has
	Replay   oplog.Replay
	Warnings []string // what is wrong with the log although its requests are right

	AtOnce int  // max parts in flight of one Upload or Download
	Head   bool // a Download begins with a HEAD

	transfers []transfer
	file      *os.File
	count     int64

	// The records around the one that was read last by Due.
	block [blockRecords * recordSize]byte
	first int64 // number of the first one
	held  int   // number of records
}

// A transfer is an object in parts.
type transfer struct {
	parts       int
	part, total int64 // size of the largest part, and of all
	object      uint32
	upload      bool
	first       bool // nothing had written the object before
}

// partSize returns the size of all parts but the last.
func (t *transfer) partSize() int64 {
	n := int64(t.parts)
	if n > 0 && (t.part*(n-1) >= t.total || t.part*n < t.total) { // parts of different sizes
		return (t.total + n - 1) / n
	}
	return t.part
}

const (
	recordSize   = 25
	blockRecords = 512
)

// A record is a request in the file.
type record struct {
	due    int64 // ns since the first request, at the speed of the log
	kind   Kind
	object uint32
	after  uint32
	size   int64 // or the number of a transfer
}

func (r *record) append(b []byte) []byte {
	e := binary.LittleEndian
	b = e.AppendUint64(b, uint64(r.due))
	b = append(b, byte(r.kind))
	b = e.AppendUint32(b, r.object)
	b = e.AppendUint32(b, r.after)
	return e.AppendUint64(b, uint64(r.size))
}

func parseRecord(b []byte) record {
	e := binary.LittleEndian
	return record{int64(e.Uint64(b)), Kind(b[8]), e.Uint32(b[9:]), e.Uint32(b[13:]), int64(e.Uint64(b[17:]))}
}

// Count returns the number of requests.
func (p *Plan) Count() int64 { return p.count }

// Due returns when a request is due after the first one. Only one goroutine may call it at a time.
func (p *Plan) Due(n int64) (time.Duration, error) {
	if n < p.first || n >= p.first+int64(p.held) {
		p.first, p.held = n, 0
		got, err := p.file.ReadAt(p.block[:], n*recordSize)
		if got < recordSize {
			return 0, damaged(err)
		}
		p.held = got / recordSize
	}
	return p.scaled(parseRecord(p.block[(n-p.first)*recordSize:]).due), nil
}

func (p *Plan) scaled(ns int64) time.Duration { return time.Duration(float64(ns) / p.Speed) }

// Request returns a request.
func (p *Plan) Request(n int64) (Request, error) {
	var b [recordSize]byte
	if _, err := p.file.ReadAt(b[:], n*recordSize); err != nil {
		return Request{}, damaged(err)
	}
	r := parseRecord(b[:])
	q := Request{Kind: r.kind, Object: r.object, After: r.after, Size: r.size}
	if r.kind == Upload || r.kind == Download {
		t := &p.transfers[r.size]
		q.Size, q.Parts, q.Part = t.total, t.parts, t.partSize()
	}
	return q, nil
}

func damaged(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading the plan of the replay from its temporary file: %w", err)
}

// Close removes the temporary file.
func (p *Plan) Close() error {
	if p == nil || p.file == nil {
		return nil
	}
	err := tempfile.Remove(p.file)
	p.file = nil
	return err
}
