package ops

import (
	"sync"

	"warp/pkg/bench"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// A sharedPool is a set of objects that operations add to and remove from while
// others read them.
type sharedPool struct {
	names    *generator.Names
	bucket   string
	versions bool        // entries are versions of objects
	popular  *popularity // of the entries that are read; nil = all alike

	mu      sync.Mutex
	entries []*entry
}

func (p *sharedPool) add(o store.Object) {
	version := ""
	if p.versions {
		version = o.VersionID
	}
	e := newEntry(p.names, &o, version)
	p.mu.Lock()
	p.entries = append(p.entries, &e)
	p.mu.Unlock()
}

// object returns the object of an entry.
func (p *sharedPool) object(e *entry, text *generator.Arena) store.Object {
	return e.object(p.names, p.bucket, text)
}

// acquire picks an object to read; release must follow. It returns nil when
// the pool is empty.
func (p *sharedPool) acquire(w *bench.Worker) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.entries) == 0 {
		return nil
	}
	e := p.entries[p.popular.pick(w, len(p.entries))]
	e.readers++
	return e
}

func (p *sharedPool) release(e *entry) {
	p.mu.Lock()
	e.readers--
	p.mu.Unlock()
}

// remove removes an object that no request reads, so that it can be deleted. The
// search starts at a random place. It returns nil if there is none.
func (p *sharedPool) remove(w *bench.Worker) *entry {
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
