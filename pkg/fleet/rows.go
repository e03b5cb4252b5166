package fleet

import (
	"io"
	"sync"

	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/oplog/merge"
)

// A tail reads the copy of a client's log while that grows. A reader of its own
// makes rows of it, so that neither a connection nor the other clients wait
// while it does, and what it has not read yet costs no memory. Since the copy
// has every byte once, however often the connection broke, so have the rows.
type tail struct {
	fleet *Fleet
	spool *logcopy.Spool
	at    int64
	grown sync.Cond // or nothing follows; its lock is the fleet's
}

// Read waits for what has not arrived yet, until the rows are at their end.
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

// follow begins to hand on the rows of client i. The lock is held.
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

// firstThread is where merge begins to number the threads of client i, if none
// of the clients is lost. Where they are too many for one log, every client's
// begin at 0.
func (f *Fleet) firstThread(i int) uint32 {
	threads := f.plan.Job.Options.Concurrency
	if threads*len(f.links) > bench.MaxThreads {
		return 0
	}
	return uint32(i * threads)
}

// EndRows waits until all rows that have arrived are handed on, and says why
// some of a client that counts were not. It comes after Finish and before Merge.
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
