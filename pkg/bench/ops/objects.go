package ops

import (
	"encoding/hex"
	"fmt"
	"strings"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// An entry is an object that the run has uploaded, in 48 bytes. There may be many
// millions, so the fields that follow from the seed are computed when needed.
type entry struct {
	n       uint64
	size    int64
	thread  uint32
	readers int32 // requests that are reading it; it must not be deleted under them
	md5     [16]byte
	extra   *extraFields // nil for most objects
}

// extraFields are needed by few stores and operations.
type extraFields struct {
	etag    string // if it is no MD5
	version string // if one version is meant
}

func newEntry(names *generator.Names, o *store.Object, version string) entry {
	thread, n, ok := names.Parse(o.Key)
	if !ok {
		panic(fmt.Sprintf("%s is not a name of this run", o.Key)) // callers pass only own uploads
	}
	e := entry{n: n, size: o.Size, thread: thread}
	extra := extraFields{version: version}
	if len(o.ETag) != 2*len(e.md5) {
		extra.etag = o.ETag
	} else if _, err := hex.Decode(e.md5[:], []byte(o.ETag)); err != nil || hex.EncodeToString(e.md5[:]) != o.ETag {
		extra.etag = o.ETag
	}
	if extra != (extraFields{}) {
		extra.etag, extra.version = strings.Clone(extra.etag), strings.Clone(extra.version)
		e.extra = &extra
	}
	return e
}

// object returns the object of an entry.
func (e *entry) object(names *generator.Names, bucket string, text *generator.Arena) store.Object {
	o := store.Object{Ref: store.Ref{Bucket: bucket, Key: text.Key(names, e.thread, e.n)}, Size: e.size}
	if e.extra != nil {
		o.ETag, o.VersionID = e.extra.etag, e.extra.version
	}
	if e.md5 != [16]byte{} && o.ETag == "" {
		var digits [2 * len(e.md5)]byte
		hex.Encode(digits[:], e.md5[:])
		o.ETag = text.Cut(digits[:])
	}
	return o
}

// objects holds the objects of a pool by number. Either made or found is empty.
type objects struct {
	names   *generator.Names
	buckets []string       // thread i's is bucket i mod their number
	made    []entry        // by this run
	found   []store.Object // in the bucket before the run
}

func (o *objects) count() int { return len(o.made) + len(o.found) }

// bucket returns the bucket of object i.
func (o *objects) bucket(i int) string {
	if o.made == nil {
		return o.found[i].Bucket
	}
	return o.buckets[int(o.made[i].thread)%len(o.buckets)]
}

// get returns object i. Strings that are computed again are cut from text.
func (o *objects) get(i int, text *generator.Arena) store.Object {
	if o.made == nil {
		return o.found[i]
	}
	return o.made[i].object(o.names, o.bucket(i), text)
}
