package workload

import "warp/pkg/reuse"

// A cache counts what caches could have served.
type cache struct {
	reuse *reuse.Counter
	parts map[uint64]int64 // size of the parts of uploads in parts that have not ended
	found map[uint64]*found
}

// A found object is only downloaded in ranges, so that they have to say how large it is.
type found struct {
	downloads, bytes int64 // so far
	size             int64 // at least
	counted          bool  // the first download is in the result
}

// maxParts limits the uploads in parts whose sizes are known before they end.
const maxParts = 10_000

func newCache(sizes ...int64) cache {
	return cache{reuse.New(sizes...), make(map[uint64]int64), make(map[uint64]*found)}
}

// use counts a request. Requests are in the order of their starts.
func (c *cache) use(r *Request) {
	if r.Part && r.Op == Get {
		c.useRange(r)
		return
	}
	if r.Failed || r.Part || r.Object == 0 {
		return
	}
	switch r.Op {
	case Put, Copy, Upload, Delete:
		delete(c.found, r.Object)
	}
	switch r.Op {
	case Get:
		bytes := r.Bytes
		if r.Step && bytes == 0 {
			bytes = c.inRanges(r)
		}
		c.reuse.Download(r.Object, r.Size, bytes, !r.Before)
	case Put, Copy:
		c.reuse.Upload(r.Object, max(r.Size, r.Bytes))
	case PutPart:
		if _, known := c.parts[r.Object]; known || len(c.parts) < maxParts {
			c.parts[r.Object] += r.Bytes
		}
	case Upload:
		c.reuse.Upload(r.Object, max(r.Size, r.Bytes, c.parts[r.Object]))
		delete(c.parts, r.Object)
	case Append:
		size, _ := c.reuse.Size(r.Object)
		c.reuse.Upload(r.Object, size+r.Bytes)
	case Delete:
		c.reuse.Delete(r.Object)
	}
}

// inRanges returns the bytes of a download in ranges, which have lines of their own, as far as they are known.
func (c *cache) inRanges(r *Request) int64 {
	f := c.found[r.Object]
	if size, known := c.reuse.Size(r.Object); known && f == nil {
		return size
	}
	if f == nil {
		f = c.find(r.Object)
	}
	if f == nil {
		return 0
	}
	if f.downloads++; f.downloads == 1 {
		f.counted = !r.Before
	}
	return f.size
}

// find begins to find out the size of an object; nil if there are too many.
func (c *cache) find(object uint64) *found {
	if len(c.found) >= reuse.MaxObjects {
		return nil
	}
	f := &found{}
	c.found[object] = f
	return f
}

// useRange counts a range of a download in ranges. Its line may come before the line of the download.
func (c *cache) useRange(r *Request) {
	f := c.found[r.Object]
	if _, known := c.reuse.Size(r.Object); f == nil && !known && r.Object != 0 {
		f = c.find(r.Object)
	}
	if f == nil {
		return
	}
	f.bytes += r.Bytes
	if f.downloads == 0 {
		return
	}
	if size := f.bytes / f.downloads; size > f.size {
		c.reuse.Grow(r.Object, size, size-f.size, f.counted)
		f.size = size
	}
}

// A CacheCounter finds out what a cache could have served, and nothing else.
type CacheCounter struct {
	order order
	cache cache
}

// NewCacheCounter returns a counter for a cache of that size.
func NewCacheCounter(size int64) *CacheCounter {
	return &CacheCounter{order: order{max: pending}, cache: newCache(size)}
}

// Add adds a request. A download with Before is not in the result.
func (c *CacheCounter) Add(r *Request) { c.order.add(r, c.cache.use) }

// Result ends the log. The second result is the number of requests that came so late that they may have been counted too late.
func (c *CacheCounter) Result() (reuse.Result, uint64) {
	c.order.end(c.cache.use)
	return c.cache.reuse.Result(), c.order.late
}
