package ops

import (
	"context"
	"sync"

	"warp/pkg/replay"
)

// turns keep the requests of a replay in order, object by object: one that writes waits for all earlier ones, and one that reads
// waits for the earlier ones that write. A request waits only for requests that workers have taken already, so every wait ends.
type turns struct {
	ended  []ended // by object
	shards [256]turnShard
}

// ended counts the requests of an object that have ended.
type ended struct{ all, writes uint32 }

// A turnShard has the waits for a part of the objects, and guards their counts.
type turnShard struct {
	mu      sync.Mutex
	waiting map[uint32][]turn // by object
}

// A turn is a request that waits.
type turn struct {
	request *replay.Request
	begun   chan struct{}
}

func newTurns(objects int) *turns { return &turns{ended: make([]ended, objects)} }

func (t *turns) shard(object uint32) *turnShard { return &t.shards[object%uint32(len(t.shards))] }

// mayBegin reports whether the requests that r must not overtake have ended.
func (e ended) mayBegin(r *replay.Request) bool {
	if r.Kind.Writes() {
		return e.all >= r.After
	}
	return e.writes >= r.After
}

// wait waits until a request may begin. It returns false if ctx ends first.
func (t *turns) wait(ctx context.Context, r *replay.Request) bool {
	s := t.shard(r.Object)
	s.mu.Lock()
	if t.ended[r.Object].mayBegin(r) {
		s.mu.Unlock()
		return true
	}
	if s.waiting == nil {
		s.waiting = map[uint32][]turn{}
	}
	begun := make(chan struct{})
	s.waiting[r.Object] = append(s.waiting[r.Object], turn{r, begun})
	s.mu.Unlock()
	select {
	case <-begun:
		return true
	case <-ctx.Done():
		return false
	}
}

// end is called when a request has ended.
func (t *turns) end(r *replay.Request) {
	s := t.shard(r.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &t.ended[r.Object]
	e.all++
	if r.Kind.Writes() {
		e.writes++
	}
	waiting := s.waiting[r.Object]
	if waiting == nil {
		return
	}
	still := waiting[:0]
	for _, w := range waiting {
		if e.mayBegin(w.request) {
			close(w.begun)
		} else {
			still = append(still, w)
		}
	}
	if s.waiting[r.Object] = still; len(still) == 0 {
		delete(s.waiting, r.Object)
	}
}
