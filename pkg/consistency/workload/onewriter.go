package workload

import (
	"context"
	"slices"

	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/store"
)

// A rawKey is a key of read-after-write. This worker is its only writer.
type rawKey struct {
	version uint64
	written []version // the last ones, oldest first; HEAD names versions of which only these are known
	gone    bool      // the last write was a deletion
}

// rawKnown is the max number of versions of a key that the writer remembers, enough for a HEAD that is seconds late.
const rawKnown = 256

// wrote remembers a version that was written.
func (k *rawKey) wrote(v version) {
	if len(k.written) == rawKnown {
		k.written = slices.Delete(k.written, 0, 1)
	}
	k.written, k.gone = append(k.written, v), false
}

// readAfterWrite writes a key of the worker's own and reads it back, and reads a key of another worker.
func (x *worker) readAfterWrite(ctx context.Context) {
	i := x.rand.IntN(rawKeys)
	k, generation := &x.raw[i], &x.load.written[x.ID*rawKeys+i]
	q := request{property: consistency.ReadAfterWrite, key: x.load.key(x.load.client, consistency.ReadAfterWrite, x.ID*rawKeys+i, generation.Load())}
	k.version++
	write := q
	write.sent = x.token(k.version)
	var a answer
	if deleting := len(k.written) > 0 && !k.gone && x.rand.IntN(8) == 0; deleting {
		a = x.delete(ctx, write, store.Condition{})
		k.gone = true
	} else {
		a = x.write(ctx, write)
		k.wrote(version{token: write.sent, store: a.version})
	}
	if !a.won() { // it may take effect at any later time: the key is left for good
		*k = rawKey{}
		generation.Add(1)
	}
	if x.rand.IntN(4) == 0 {
		x.stat(ctx, q, k.written...)
	} else {
		x.read(ctx, q)
	}
	x.readOther(ctx)
}

// write uploads an object, now and then in parts. Stores treat the two differently.
func (x *worker) write(ctx context.Context, q request) answer {
	if x.load.noParts.Load() || x.rand.IntN(8) > 0 {
		return x.put(ctx, q, smallBlocks, store.Condition{})
	}
	upload, parts, a := x.uploadParts(ctx, q, store.Condition{}, smallBlocks)
	if !a.won() {
		return a
	}
	return x.completeUpload(ctx, q, upload, parts)
}

// read downloads an object, now and then as a range. Stores treat the two differently.
func (x *worker) read(ctx context.Context, q request) answer {
	if x.rand.IntN(8) > 0 {
		return x.get(ctx, q)
	}
	return x.getBlocks(ctx, q, 0, smallBlocks, store.Condition{})
}

// readOther reads a key of any worker of any client.
func (x *worker) readOther(ctx context.Context) {
	client, key := x.rand.IntN(len(x.load.names)), x.rand.IntN(len(x.load.written))
	q := request{property: consistency.ReadAfterWrite}
	if client == x.load.client {
		q.key = x.load.key(client, consistency.ReadAfterWrite, key, x.load.written[key].Load())
		x.read(ctx, q)
		return
	}
	// Other clients leave keys without saying so: now and then the next one is tried.
	at := client*len(x.load.written) + key
	generation := x.guesses[at]
	if next := x.rand.IntN(8) == 0; next {
		generation++
	}
	q.key = x.load.key(client, consistency.ReadAfterWrite, key, generation)
	if a := x.read(ctx, q); a.won() {
		x.guesses[at] = generation
	}
}

// A listSlot is one object of the worker's folder.
type listSlot struct {
	number  uint64
	exists  bool
	version uint64
}

// listAfterWrite changes an object of the worker's folder, and lists this folder or another.
func (x *worker) listAfterWrite(ctx context.Context) {
	i := x.rand.IntN(listSlots)
	s := &x.list[i]
	if s.version == 0 {
		s.number = x.numbers
		x.numbers++
	}
	if s.version == 0 || i >= listStill {
		x.changeListed(ctx, s)
	}
	client, folder := x.load.client, x.ID
	if x.rand.IntN(3) == 0 {
		client, folder = x.rand.IntN(len(x.load.names)), x.rand.IntN(len(x.load.workers))
	}
	x.listFolder(ctx, x.load.folder(client, consistency.ListAfterWrite, folder))
}

// changeListed creates or deletes an object of the folder. One whose change has no certain outcome is left for good.
func (x *worker) changeListed(ctx context.Context, s *listSlot) {
	s.version++
	q := request{property: consistency.ListAfterWrite, key: x.load.key(x.load.client, consistency.ListAfterWrite, x.ID, s.number), sent: x.token(s.version)}
	var a answer
	if s.exists {
		a = x.delete(ctx, q, store.Condition{})
	} else {
		a = x.put(ctx, q, smallBlocks, store.Condition{})
	}
	if s.exists = !s.exists; !a.won() {
		*s = listSlot{}
	}
}

// listFolder lists a folder in pages.
func (x *worker) listFolder(ctx context.Context, prefix string) {
	q := request{op: consistency.List, property: consistency.ListAfterWrite, key: prefix}
	x.measure(ctx, q, func(ctx context.Context, r *bench.Request, a *answer) error {
		r.Receives = true
		var l consistency.Listing
		last := ""
		r.Objects = 0
		err := r.List(ctx, store.List{Bucket: x.load.bucket, Prefix: prefix, MaxKeys: listPage}, func(o store.Object) bool {
			r.Objects++
			l.Unsorted = l.Unsorted || o.Key < last
			last = o.Key
			if n, ok := consistency.NumberOf(o.Key); ok && consistency.FolderOf(o.Key) == prefix {
				l.Add(n)
			} else {
				l.Foreign = append(l.Foreign, o.Key)
			}
			return true
		}, r.Trace)
		if err == nil {
			a.received = l.String()
		}
		return err
	})
}

// whole overwrites an object, or reads one of any client.
func (x *worker) whole(ctx context.Context) {
	if x.ID < wholeKeys && x.rand.IntN(2) == 0 {
		x.overwrite(ctx)
		return
	}
	client, key := x.rand.IntN(len(x.load.names)), x.rand.IntN(min(wholeKeys, len(x.load.workers)))
	q := request{property: consistency.Whole, key: x.load.key(client, consistency.Whole, 0, uint64(key))}
	known := &x.versions[client*wholeKeys+key]
	if known.store == "" || x.rand.IntN(2) == 0 || known.blocks < 2 {
		if a := x.get(ctx, q); a.won() {
			*known = version{a.received, a.version, a.blocks}
		}
		return
	}
	from, blocks := x.someBlocks(known.blocks)
	q.condition = consistency.IfIs(known.token)
	if a := x.getBlocks(ctx, q, from, blocks, store.Condition{Is: known.store}); a.outcome == consistency.Lost {
		*known = version{}
	}
}

// someBlocks chooses a range of blocks from the last ones of a body, where its parts meet.
func (x *worker) someBlocks(of int) (from, blocks int) {
	last := min(of, 2*x.load.WholeBlocks)
	from = of - last + x.rand.IntN(last)
	return from, 1 + x.rand.IntN(of-from)
}

// overwrite overwrites the worker's object, in one request or in parts. Now and then there are two parts; the first one needs
// the size that S3 demands of all parts except the last one.
func (x *worker) overwrite(ctx context.Context) {
	x.wholeVersion[x.ID]++
	n := x.wholeVersion[x.ID]
	q := request{property: consistency.Whole, key: x.load.key(x.load.client, consistency.Whole, 0, uint64(x.ID)), sent: x.token(n)}
	if n%2 == 1 || x.load.noParts.Load() {
		x.put(ctx, q, x.load.WholeBlocks, store.Condition{})
		return
	}
	blocks := []int{x.load.WholeBlocks}
	if n <= soonParts || n%severalParts == 0 {
		blocks = []int{minPartBlocks, x.load.WholeBlocks}
	}
	upload, parts, a := x.uploadParts(ctx, q, store.Condition{}, blocks...)
	if !a.won() {
		return
	}
	early := request{property: consistency.Whole, key: q.key}
	x.get(ctx, early) // the parts are not visible yet
	x.completeUpload(ctx, q, upload, parts)
}
