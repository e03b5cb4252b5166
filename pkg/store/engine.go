// Package store talks to object stores. A [Client] picks the host of each request and sends it
// through that host's [Engine]. Every failure is an [*Error].
//
// The packages below contain the engines and their common parts. Package engines opens a Client
// with the engine that a [Config] asks for.
package store

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"
)

// An Engine sends requests to one host. Its methods are safe for concurrent use. Every method fills
// in tr, even if it fails, and every error is an [*Error]. The interfaces below are for requests that
// only some engines support.
type Engine interface {
	Put(ctx context.Context, p Put, tr *Trace) (Object, error)
	Get(ctx context.Context, g Get, tr *Trace) (Download, error)
	Stat(ctx context.Context, ref Ref, tr *Trace) (Object, error)
	Delete(ctx context.Context, refs []Ref, tr *Trace) error
	// List calls each for every entry, page after page, until it returns false.
	List(ctx context.Context, l List, each func(Object) bool, tr *Trace) error
	// Close closes idle connections now and the others when their requests end.
	Close()
}

// ErrUnsupported is returned by methods of an [Engine] that does not support the request. Nothing
// has been sent, so another engine may be tried.
var ErrUnsupported = errors.New("the engine does not support this request")

// A Multipart is an [Engine] that uploads objects in parts.
type Multipart interface {
	// StartUpload starts the upload of p. It ignores the body.
	StartUpload(ctx context.Context, p Put, tr *Trace) (Upload, error)
	PutPart(ctx context.Context, p PutPart, tr *Trace) (Part, error)
	CompleteUpload(ctx context.Context, u Upload, parts []Part, tr *Trace) (Object, error)
	AbortUpload(ctx context.Context, u Upload, tr *Trace) error
}

// A PartCopier is an [Engine] that copies ranges of objects as parts.
type PartCopier interface {
	CopyPart(ctx context.Context, c CopyPart, tr *Trace) (Part, error)
}

// A Copier is an [Engine] that copies objects.
type Copier interface {
	Copy(ctx context.Context, c Copy, tr *Trace) (Object, error)
}

// A Tagger is an [Engine] with tags of objects.
type Tagger interface {
	PutTags(ctx context.Context, ref Ref, tags map[string]string, tr *Trace) error
	Tags(ctx context.Context, ref Ref, tr *Trace) (map[string]string, error)
	DeleteTags(ctx context.Context, ref Ref, tr *Trace) error
}

// A Retainer is an [Engine] that locks versions of objects.
type Retainer interface {
	Retain(ctx context.Context, ref Ref, r Retention, tr *Trace) error
}

// A FanOuter is an [Engine] that uploads one body under many names (a MinIO extension).
type FanOuter interface {
	FanOut(ctx context.Context, f FanOut, tr *Trace) ([]Object, error)
}

// A Poster is an [Engine] that uploads with an HTML form, as browsers do.
type Poster interface {
	Post(ctx context.Context, p Put, tr *Trace) (Object, error)
}

// A Ref names an object, or one version of it.
type Ref struct {
	Bucket, Key, VersionID string
}

// An Object describes an object.
type Object struct {
	Ref
	ETag         string // without quotes
	Generation   int64  // names the version, in stores that number them; 0 in others
	Size         int64
	LastModified time.Time
	DeleteMarker bool
	HasMetadata  bool // the listing included the object's metadata
	IsPrefix     bool // a common prefix in a flat listing, not an object
}

// Token returns what names the version of the object in a [Condition]: its generation or its ETag.
func (o *Object) Token() string {
	if o.Generation != 0 {
		return strconv.FormatInt(o.Generation, 10)
	}
	return o.ETag
}

// A Body is a payload that can be read more than once, and by several goroutines at once in a
// multipart upload.
type Body interface {
	io.ReadSeeker
	io.ReaderAt
}

// A PieceBody can expose the memory that holds its content, so that sending it needs no copy.
type PieceBody interface {
	Body
	// InMemoryFrom returns the offset from which all content is in memory.
	InMemoryFrom() int64
	// Pieces fills dst with the content from such an offset on and returns the number of pieces, or
	// 0 at the end. The memory does not change.
	Pieces(off int64, dst [][]byte) int
}

// A Put is one upload. Its body is read from the start.
type Put struct {
	Ref
	Body        Body
	Size        int64
	ContentType string
	Headers     []Header          // for this request only, in addition to Config's
	Tags        map[string]string // of an upload in parts, in addition to Config's
	Whole       bool              // in one request, whatever its size
	If          Condition         // an upload with a condition is always one request in S3
}

// A Header is one header of a request. Names are in lower case.
type Header struct{ Name, Value string }

// A Get is one download. A Length of 0 asks for the whole object.
type Get struct {
	Ref
	Offset, Length int64
	Part           int       // the number of the uploaded part that is the range; 0 = the whole object
	Into           io.Writer // receives the payload; nil discards it, which costs less
	Headers        []Header
	If             Condition // the version to read; Absent is not allowed
	// Checksum is called with the checksum that the store keeps of the object, before the payload
	// arrives.
	Checksum func(StoredChecksum)
}

// A Download is the result of a Get: the object, and how much payload arrived.
type Download struct {
	Object
	Bytes int64
}

// A List is one listing, with all its pages.
type List struct {
	Bucket, Prefix string
	Flat           bool // stop at "/", do not descend
	Versions       bool // list all versions and delete markers
	Metadata       bool // include user metadata (a MinIO extension)
	MaxKeys        int  // max objects per page; 0 leaves it to the store
	Headers        []Header
}

// An Upload is a multipart upload in progress.
type Upload struct {
	Ref
	ID string
	If Condition // must hold when the upload is completed
}

// A Part is an uploaded part, as needed to complete the upload.
type Part struct {
	Number    int
	ETag      string
	Size      int64
	Checksums map[string]string // by header name, such as x-amz-checksum-crc32c
}

// A PutPart is one part's upload. Its body is read from the start.
type PutPart struct {
	Upload
	Number int // from 1
	Body   Body
	Size   int64
}

// A Copy has the store copy an object.
type Copy struct {
	From, To Ref
	Headers  []Header
}

// A CopyPart has the store copy a range of an object as a part.
type CopyPart struct {
	Upload
	Number         int
	From           Ref
	Offset, Length int64
}

// A Retention locks a version of an object.
type Retention struct {
	Mode   string // GOVERNANCE or COMPLIANCE
	Until  time.Time
	Bypass bool // bypass governance mode, to shorten or end it
}

// A FanOut is one body for many objects.
type FanOut struct {
	Bucket string
	Keys   []string
	Body   Body
	Size   int64
}
