// Package s3 talks to object stores: it sends requests through an engine,
// picks the host for each, and turns whatever goes wrong into one kind of error.
package s3

import (
	"context"
	"io"
	"time"
)

// An Engine sends requests to one host. Its methods are safe for concurrent
// use. Every method fills in tr, also when it fails; every error is an *Error.
type Engine interface {
	Put(ctx context.Context, p Put, tr *Trace) (Object, error)
	Get(ctx context.Context, g Get, tr *Trace) (Download, error)
	Stat(ctx context.Context, ref Ref, tr *Trace) (Object, error)
	Delete(ctx context.Context, refs []Ref, tr *Trace) error
	// List calls each for every entry, page after page, until it returns false.
	List(ctx context.Context, l List, each func(Object) bool, tr *Trace) error
}

// A Ref names an object, or one version of it.
type Ref struct {
	Bucket, Key, VersionID string
}

// An Object is what a store says about an object.
type Object struct {
	Ref
	ETag         string // without quotes
	Size         int64
	LastModified time.Time
	DeleteMarker bool
	HasMetadata  bool // a listing carried the object's metadata
	IsPrefix     bool // a flat listing's common prefix, not an object
}

// A Body is a payload that can be read again, and from several places at once
// by a multipart upload.
type Body interface {
	io.ReadSeeker
	io.ReaderAt
}

// A Put is one upload. Its body is read from the start.
type Put struct {
	Ref
	Body        Body
	Size        int64
	ContentType string
}

// A Get is one download. A Length of 0 asks for the whole object.
type Get struct {
	Ref
	Offset, Length int64
}

// A Download is what came of a Get: the object and how much payload arrived.
type Download struct {
	Object
	Bytes int64
}

// A List is one listing, with all its pages.
type List struct {
	Bucket, Prefix string
	Flat           bool // stop at "/", do not descend
	Versions       bool // list all versions and delete markers
	Metadata       bool // ask for user metadata as well (an extension of MinIO)
	MaxKeys        int  // objects in a page; 0 leaves it to the store
}
