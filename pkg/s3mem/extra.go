package s3mem

import (
	"github.com/johannesboyne/gofakes3"
)

// An extra is the part of an object that only some have, so that the others need no memory for it. The lock of the
// bucket guards older. The other fields do not change: an object with other tags or another lock is a new one.
type extra struct {
	version  gofakes3.VersionID // "" in a bucket without versions
	marker   bool               // a delete marker
	older    *object            // the version before
	tags     []tag
	lock     retention
	partEnds []int64 // the offset behind each part of an upload in parts
}

// extraOverhead is the memory of an extra besides its tags and parts.
const extraOverhead = 192

func (e *extra) footprint() int64 {
	if e == nil {
		return 0
	}
	n := int64(extraOverhead + 8*len(e.partEnds))
	for _, t := range e.tags {
		n += int64(len(t.Key)+len(t.Value)) + 32
	}
	return n
}

// with returns a copy of an object whose extra is changed. It shares the payload.
func (o *object) with(change func(*extra)) *object {
	n := *o
	n.extra = new(extra)
	if o.extra != nil {
		*n.extra = *o.extra
	}
	change(n.extra)
	return &n
}

func (o *object) tags() []tag {
	if o.extra == nil {
		return nil
	}
	return o.extra.tags
}

func (o *object) lock() retention {
	if o.extra == nil {
		return retention{}
	}
	return o.extra.lock
}

func (o *object) isMarker() bool { return o.extra != nil && o.extra.marker }

// older returns the version before, or nil.
func (o *object) older() *object {
	if o.extra == nil {
		return nil
	}
	return o.extra.older
}

// version returns the id of a version, "" in a bucket without versions.
func (o *object) version() gofakes3.VersionID {
	if o.extra == nil {
		return ""
	}
	return o.extra.version
}

// noVersion is the id of objects that are older than the versions of their bucket.
const noVersion = "null"

// is reports whether the object is the version with an id.
func (o *object) is(id gofakes3.VersionID) bool {
	v := o.version()
	return v == id || v == "" && id == noVersion
}
