package bench

import (
	"encoding/hex"
	"fmt"
	"sync"

	"warp/pkg/generator"
	"warp/pkg/s3"
)

// A sharedPool is a set of objects that operations add to and take from while
// others read from it.
type sharedPool struct {
	names    *generator.Names
	bucket   string
	versions bool // entries are versions of objects

	mu      sync.Mutex
	entries []*entry
}

// An entry is an object in 48 bytes: a pool grows for as long as more is
// uploaded than deleted, so its name is made again rather than kept.
type entry struct {
	n       uint64
	size    int64
	thread  uint32
	readers int32 // requests that are reading it; it must not be deleted under them
	md5     [16]byte
	odd     *oddity // nil for most objects
}

// An oddity is what few stores or operations have.
type oddity struct {
	etag    string // where it is no MD5
	version string // where one version is meant
}

func (p *sharedPool) add(o s3.Object) {
	thread, n, ok := p.names.Parse(o.Key)
	if !ok {
		panic(fmt.Sprintf("%s is no name of this run", o.Key)) // only own uploads come here
	}
	e := &entry{n: n, size: o.Size, thread: thread}
	var odd oddity
	if p.versions {
		odd.version = o.VersionID
	}
	if len(o.ETag) != 2*len(e.md5) {
		odd.etag = o.ETag
	} else if _, err := hex.Decode(e.md5[:], []byte(o.ETag)); err != nil || hex.EncodeToString(e.md5[:]) != o.ETag {
		odd.etag = o.ETag
	}
	if odd != (oddity{}) {
		e.odd = &odd
	}
	p.mu.Lock()
	p.entries = append(p.entries, e)
	p.mu.Unlock()
}

// object is what is known of an entry's object.
func (p *sharedPool) object(e *entry) s3.Object {
	o := s3.Object{Ref: s3.Ref{Bucket: p.bucket, Key: p.names.Key(e.thread, e.n)}, Size: e.size}
	if e.odd != nil {
		o.ETag, o.VersionID = e.odd.etag, e.odd.version
	}
	if e.md5 != [16]byte{} && o.ETag == "" {
		o.ETag = hex.EncodeToString(e.md5[:])
	}
	return o
}

// borrow picks an object to read; giveBack must follow. It returns nil when
// the pool is empty.
func (p *sharedPool) borrow(w *Worker) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.entries) == 0 {
		return nil
	}
	e := p.entries[w.Rand.IntN(len(p.entries))]
	e.readers++
	return e
}

func (p *sharedPool) giveBack(e *entry) {
	p.mu.Lock()
	e.readers--
	p.mu.Unlock()
}

// take removes an object that nobody reads, for deletion. It starts looking
// at a random place; nil when there is none.
func (p *sharedPool) take(w *Worker) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.entries)
	if n == 0 {
		return nil
	}
	from := w.Rand.IntN(n)
	for k := range n {
		i := (from + k) % n
		if e := p.entries[i]; e.readers == 0 {
			p.entries[i] = p.entries[n-1]
			p.entries[n-1] = nil
			p.entries = p.entries[:n-1]
			return e
		}
	}
	return nil
}
