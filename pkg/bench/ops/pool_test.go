package ops

import (
	"runtime"
	"sync"
	"testing"

	"warp/pkg/bench"

	"warp/pkg/generator"
	"warp/pkg/store"
)

// A watchedPool is a shared pool of which a test knows what is in it.
type watchedPool struct {
	t *testing.T
	sharedPool

	looking      sync.Mutex
	alive        map[string]bool // false once deletion has begun
	added, taken int
}

func (p *watchedPool) key(e *entry) string { return p.object(e, new(generator.Arena)).Key }

func (p *watchedPool) put(worker, i int) {
	key := p.names.Key(uint32(worker), uint64(i))
	p.looking.Lock()
	p.alive[key] = true
	p.added++
	p.looking.Unlock()
	p.add(store.Object{Ref: store.Ref{Key: key}})
}

func (p *watchedPool) delete(w *bench.Worker) {
	e := p.remove(w)
	if e == nil {
		return
	}
	p.looking.Lock()
	defer p.looking.Unlock()
	p.taken++
	if !p.alive[p.key(e)] {
		p.t.Errorf("%s was taken twice", p.key(e))
	}
	p.alive[p.key(e)] = false
}

func (p *watchedPool) read(w *bench.Worker) {
	e := p.acquire(w)
	if e == nil {
		return
	}
	for _, doing := range []string{"began to read", "was reading"} {
		p.looking.Lock()
		if !p.alive[p.key(e)] {
			p.t.Errorf("%s %s, which is being deleted", doing, p.key(e))
		}
		p.looking.Unlock()
	}
	p.release(e)
}

// Nobody may read what another is deleting, nothing may be lost.
func TestSharedPoolUnderConcurrency(t *testing.T) {
	t.Parallel()
	pool := &watchedPool{t: t, sharedPool: sharedPool{names: generator.NewNames("p/", 1, generator.Layout{})}, alive: make(map[string]bool)}
	for i := range 50 {
		pool.put(100, i)
	}
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			w := &bench.Worker{ID: id, Rand: generator.Rand(1, "worker", id)}
			for i := range 2000 {
				switch i % 4 {
				case 0:
					pool.put(id, i)
				case 1:
					pool.delete(w)
				default:
					pool.read(w)
				}
			}
		})
	}
	wg.Wait()
	if left := len(pool.entries); left != pool.added-pool.taken {
		t.Errorf("%d objects are left of %d added and %d taken", left, pool.added, pool.taken)
	}
	for _, e := range pool.entries {
		if e.readers != 0 {
			t.Errorf("%s still has %d readers", pool.key(e), e.readers)
		}
	}
}

func TestEntriesKeepWhatIsKnown(t *testing.T) {
	t.Parallel()
	names := generator.NewNames("p/", 1, generator.Layout{})
	for _, etag := range []string{"", "0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789ABCDEF",
		"0123456789abcdef0123456789abcdef-3", "00000000000000000000000000000000", "odd", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"} {
		pool := sharedPool{names: names, bucket: "b"}
		want := store.Object{Ref: store.Ref{Bucket: "b", Key: names.Key(7, 99)}, Size: 1 << 40, ETag: etag}
		pool.add(want)
		got := pool.object(pool.entries[0], new(generator.Arena))
		if etag == "00000000000000000000000000000000" {
			want.ETag = "" // the one that cannot be told from none; nothing is compared then
		}
		if got != want {
			t.Errorf("ETag %q: got %+v, want %+v", etag, got, want)
		}
	}
}

// A prepared object takes little memory, and is known exactly again.
func TestMeasuredMemoryOfObjects(t *testing.T) {
	const count = 200_000
	names, etag := generator.NewNames("a prefix that somebody has chosen/warp-1/", 1, generator.Layout{}), "0123456789abcdef0123456789abcdef"
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pool := Pool{objects: objects{names: names, buckets: []string{"a", "b"}, made: make([]entry, count)}}
	var text generator.Arena
	for i := range pool.made {
		key, tag := text.Key(names, uint32(i%7), uint64(i)), text.Cut([]byte(etag))
		pool.made[i] = newEntry(names, &store.Object{Ref: store.Ref{Key: key}, Size: int64(i), ETag: tag}, "")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if per := float64(after.HeapAlloc-before.HeapAlloc) / count; per > 60 {
		t.Errorf("%.0f bytes per object", per)
	}
	for _, i := range []int{0, 1, 12345, count - 1} {
		want := store.Object{Ref: store.Ref{Bucket: pool.buckets[i%7%2], Key: names.Key(uint32(i%7), uint64(i))}, Size: int64(i), ETag: etag}
		if got := pool.get(i, &text); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Each pass of --unique and --epochs has every object once.
func TestPassesAreComplete(t *testing.T) {
	t.Parallel()
	for _, objects := range []int{1, 2, 3, 100, 1000} {
		o := order{seed: 5, objects: objects, epochs: 7}
		var mu sync.Mutex
		seen := make([]int, objects)
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for i, ok := o.next(); ok; i, ok = o.next() {
					mu.Lock()
					seen[i]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for i, n := range seen {
			if n != 7 {
				t.Errorf("object %d of %d was there %d times in 7 passes", i, objects, n)
			}
		}
		single := order{seed: 5, objects: objects}
		for range 3 {
			pass := make([]bool, objects)
			for range objects {
				i, _ := single.next()
				if pass[i] {
					t.Fatalf("object %d of %d was there twice in a pass", i, objects)
				}
				pass[i] = true
			}
		}
	}
}

// Clients upload the objects of a profile together, and otherwise each uploads its own.
func TestObjectsOfAllClientsTogether(t *testing.T) {
	t.Parallel()
	together := 0
	for client := range 3 {
		p := Pool{Objects: 100, Together: true}
		p.ShareAmong(client, 3)
		together += p.Objects
		own, few := Pool{Objects: 100}, Pool{Objects: 1, Together: true}
		own.ShareAmong(client, 3)
		few.ShareAmong(client, 3)
		if own.Objects != 100 || few.Objects != 1 {
			t.Errorf("client %d uploads %d objects of its own, and %d of 1", client, own.Objects, few.Objects)
		}
	}
	if together != 100 {
		t.Errorf("the clients upload %d objects together, want 100", together)
	}
}

// Clients share what is there without a word between them.
func TestSharesOfClientsAreDisjoint(t *testing.T) {
	t.Parallel()
	names := generator.NewNames("p/", 1, generator.Layout{})
	total := 0
	for client := range 3 {
		p := Pool{Client: client, Clients: 3}
		count := 0
		for i := range 3000 {
			if p.mine(names.Key(1, uint64(i))) {
				count++
			}
		}
		if count < 800 || count > 1200 {
			t.Errorf("client %d has %d of 3000 objects", client, count)
		}
		total += count
	}
	if total != 3000 {
		t.Errorf("%d of 3000 objects are somebody's", total)
	}
}
