package ops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/store"
)

// Loader uploads and downloads as NVIDIA's aisloader does: it reads the objects in the bucket and the objects it has uploaded
// itself. It works in one bucket.
type Loader struct {
	Sizes      generator.Sizes
	PutPercent int      // of the requests; the others download
	Prefix     string   // of the objects in the bucket to read
	Keys       []string // of the objects to read, instead of a listing
	Cached     bool     // list only the objects that AIStore has cached
	Batch      int      // objects in a page of the listing; 0 leaves it to the store
	Unique     bool     // read all objects equally often, in random order
	Epochs     int      // ends the run after reading each object that often on average; 0 = does not
	// The part of each object to read: from ReadOffset on, up to ReadLength bytes (0 = to the end).
	ReadOffset, ReadLength int64
	Found                  func(objects int) // called once the objects to read are known; nil = not called

	objects loaderObjects
	counted atomic.Uint64 // names
}

// Prepare finds the objects to read.
func (l *Loader) Prepare(ctx context.Context, e *bench.Env) (err error) {
	l.objects = loaderObjects{names: e.Names, bucket: e.Bucket, unique: l.Unique, epochs: l.Epochs}
	if l.PutPercent == 100 {
		return nil
	}
	if l.objects.found, err = l.find(ctx, e); err != nil {
		return err
	}
	for _, o := range l.objects.found {
		if l.ReadOffset > 0 && l.ReadOffset >= o.Size {
			return fmt.Errorf("prepare: %s has %s, so there is nothing to read at offset %d", o.Key, human.Plural(o.Size, "byte"), l.ReadOffset)
		}
	}
	l.objects.begin()
	if l.Found != nil {
		l.Found(len(l.objects.found))
	}
	if len(l.objects.found) > 0 || l.PutPercent > 0 {
		return nil
	}
	if l.Prefix != "" {
		return fmt.Errorf("prepare: bucket %s has no objects under prefix %q to read", e.Bucket, l.Prefix)
	}
	return fmt.Errorf("prepare: bucket %s is empty, so there is nothing to read: fill it first with uploads only", e.Bucket)
}

// find returns the objects that are in the bucket.
func (l *Loader) find(ctx context.Context, e *bench.Env) (found []store.Object, err error) {
	if l.Keys != nil {
		pool := Pool{Keys: l.Keys}
		err = pool.statKeys(ctx, e)
		return pool.found, err
	}
	e.Progress.Begin("Preparing: listing", 0)
	defer e.Progress.End()
	list := store.List{Bucket: e.Bucket, Prefix: l.Prefix, MaxKeys: l.Batch}
	each := func(o store.Object) bool {
		if !o.IsPrefix && !o.DeleteMarker && !lease.IsMarker(o.Key) {
			found = append(found, o)
			e.Progress.Add(1)
		}
		return true
	}
	if l.Cached {
		err = e.Client.Use(func(h *store.Host) error { return h.List(ctx, list, each, store.NewTrace(time.Now())) })
	} else {
		err = e.Client.List(ctx, list, func() { found = nil }, each)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare: list bucket %s: %w", e.Bucket, err)
	}
	return found, nil
}

// Do uploads or downloads one object. As long as there is nothing to read, it uploads.
func (l *Loader) Do(ctx context.Context, w *bench.Worker) error {
	if l.PutPercent == 100 || w.Rand.IntN(100) < l.PutPercent {
		return l.put(ctx, w)
	}
	obj, err := l.objects.pick(w)
	if errors.Is(err, errNoObjects) {
		return l.put(ctx, w)
	}
	if err != nil {
		return err
	}
	get := store.Get{Ref: obj.Ref}
	readPart(&get, obj.Size, l.ReadOffset, l.ReadLength)
	return w.Download(ctx, obj, get)
}

func (l *Loader) put(ctx context.Context, w *bench.Worker) error {
	size := l.Sizes.Next(w.Rand)
	return w.Spend(1, size, func(int) error {
		obj, err := w.Put(ctx, l.key(w), size)
		if err == nil && l.PutPercent < 100 {
			l.objects.add(&obj)
		}
		return err
	})
}

// key names the next object. Counted names have one number for all workers.
func (l *Loader) key(w *bench.Worker) string {
	if w.Env.Names.Random() {
		return w.NextKey()
	}
	return w.Text.Key(w.Env.Names, 0, l.counted.Add(1)-1)
}

// loaderObjects are the objects that a Loader reads.
type loaderObjects struct {
	names  *generator.Names
	bucket string
	unique bool
	epochs int

	mu    sync.Mutex
	found []store.Object
	made  []entry
	left  []uint32 // with unique: objects that are not yet read in this pass
	reads int64
}

// errNoObjects is returned while there is nothing to read.
var errNoObjects = errors.New("there is no object to read yet")

func (p *loaderObjects) count() int { return len(p.found) + len(p.made) }

// begin begins a pass over all objects.
func (p *loaderObjects) begin() {
	if !p.unique {
		return
	}
	p.left = p.left[:0]
	for i := range p.count() {
		p.left = append(p.left, uint32(i))
	}
}

func (p *loaderObjects) add(o *store.Object) {
	e := newEntry(p.names, o, "")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, e)
	if p.unique {
		p.left = append(p.left, uint32(p.count()-1))
	}
}

// pick selects the object of the worker's next request.
func (p *loaderObjects) pick(w *bench.Worker) (*store.Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.count()
	if n == 0 {
		return nil, errNoObjects
	}
	if p.epochs > 0 && p.reads >= int64(p.epochs)*int64(n) {
		return nil, bench.Done(fmt.Sprintf("all %s of -epochs over %s were made", human.Count(p.epochs, "pass", "passes"), human.Plural(n, "object")))
	}
	p.reads++
	i := 0
	if p.unique {
		if len(p.left) == 0 {
			p.begin()
		}
		at := w.Rand.IntN(len(p.left))
		last := len(p.left) - 1
		i = int(p.left[at])
		p.left[at], p.left = p.left[last], p.left[:last]
	} else {
		i = w.Rand.IntN(n)
	}
	if i < len(p.found) {
		w.Picked = p.found[i]
	} else {
		w.Picked = p.made[i-len(p.found)].object(p.names, p.bucket, &w.Text)
	}
	return &w.Picked, nil
}
