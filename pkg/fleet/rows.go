package fleet

import (
	"io"
	"sync"

	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/oplog/merge"
)

// A tail reads the copy of a client's log while it grows, in a goroutine of its
// own. Neither the connection nor other clients wait for it, and unread rows
// use no memory. The copy has every byte once, however often the connection
// broke, and so every row.
type tail struct {
	fleet *Fleet
	spool *logcopy.Spool
	at    int64
	grown sync.Cond // signals growth or the end; uses the fleet's lock
}

// Read waits for more data until the log ends.
func (t *tail) Read(p []byte) (int, error) {
	t.fleet.mu.Lock()
	for t.at == t.spool.Size() && !t.fleet.rowsEnd {
		t.grown.Wait()
	}
	n := min(int64(len(p)), t.spool.Size()-t.at)
	t.fleet.mu.Unlock()
	if n == 0 {
		return 0, io.EOF
	}
	read, err := t.spool.ReadAt(p[:n], t.at)
	t.at += int64(read)
	return read, err
}

// follow starts to pass on the rows of client i. The caller holds the lock.
func (f *Fleet) follow(i int) {
	l := f.links[i]
	t := &tail{fleet: f, spool: l.spool}
	t.grown.L = &f.mu
	l.tail = t
	offset := f.firstThread(i)
	f.following.Go(func() {
		err := merge.Follow(t, t.spool.Path(), offset, f.options.Rows)
		f.mu.Lock()
		defer f.mu.Unlock()
		if err != nil && t.spool.Size() > 0 {
			l.unread = err
		}
	})
}

// firstThread returns the first thread number of client i in a merge without
// lost clients. If there are too many threads for one log, every client begins
// at 0.
func (f *Fleet) firstThread(i int) uint32 {
	threads := f.plan.Job.Options.Concurrency
	if threads*len(f.links) > bench.MaxThreads {
		return 0
	}
	return uint32(i * threads)
}

// EndRows waits until all received rows are passed on, and returns why some
// rows of a counted client were not. Call it between Finish and Merge.
func (f *Fleet) EndRows() error {
	f.mu.Lock()
	f.rowsEnd = true
	for _, l := range f.links {
		if l.tail != nil {
			l.tail.grown.Signal()
		}
	}
	f.mu.Unlock()
	f.following.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.unread != nil && l.lost == nil {
			return &Error{l.name(), l.unread}
		}
	}
	return nil
}
