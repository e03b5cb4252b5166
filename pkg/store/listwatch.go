package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// ListTimeout is the usual limit on one listing of bookkeeping. 1000 names take some 10 ms, so that
// it is enough for many millions.
const ListTimeout = 30 * time.Minute

// listNews is the interval in which a long listing reports its progress.
const listNews = 10 * time.Second

// ListNews describes a listing of bookkeeping that is going on.
type ListNews struct {
	Bucket, Prefix string
	Names          int64
	Took           time.Duration
}

// WatchListings has watch called every 10 s during a listing of bookkeeping. It must not be called
// after the first request.
func (c *Client) WatchListings(watch func(ListNews)) { c.listings = watch }

// A listWatch limits the time of a listing, and reports its progress. The time that the caller takes
// for the entries does not count.
type listWatch struct {
	timeout time.Duration
	report  func(ListNews)
	news    ListNews
	begun   time.Time
	names   atomic.Int64
	waited  atomic.Int64 // ns that the caller took for earlier entries
	entered atomic.Int64 // ns after begun when the caller got its entry; 0 = it has none
	late    atomic.Bool
	cancel  context.CancelFunc
}

// watchListing returns a context that ends when the listing has taken too long. End has to follow.
func (c *Client) watchListing(ctx context.Context, bucket, prefix string) (context.Context, *listWatch) {
	ctx, cancel := context.WithCancel(ctx)
	w := &listWatch{timeout: c.options.ListTimeout, report: c.listings, news: ListNews{Bucket: bucket, Prefix: prefix}, begun: time.Now(), cancel: cancel}
	if w.timeout > 0 || w.report != nil {
		go w.watch(ctx)
	}
	return ctx, w
}

func (w *listWatch) watch(ctx context.Context) {
	interval := listNews
	if w.timeout > 0 {
		interval = min(interval, max(w.timeout/8, time.Millisecond))
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for next := listNews; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		took := w.took()
		if w.timeout > 0 && took >= w.timeout {
			w.late.Store(true)
			w.cancel()
			return
		}
		if w.report != nil && took >= next {
			next += listNews
			w.news.Names, w.news.Took = w.names.Load(), took
			w.report(w.news)
		}
	}
}

// took returns how long the store has taken.
func (w *listWatch) took() time.Duration {
	now := time.Since(w.begun)
	took := now - time.Duration(w.waited.Load())
	if entered := w.entered.Load(); entered > 0 {
		took -= now - time.Duration(entered)
	}
	return took
}

// entry calls do, which is the caller's function for an entry.
func (w *listWatch) entry(do func()) {
	w.names.Add(1)
	entered := max(time.Since(w.begun), 1)
	w.entered.Store(int64(entered))
	do()
	w.entered.Store(0)
	w.waited.Add(int64(time.Since(w.begun) - entered))
}

// end returns the error of the listing, which ended with err.
func (w *listWatch) end(err error) error {
	w.cancel()
	if err == nil || !w.late.Load() {
		return err
	}
	return &Error{Code: CodeTimeout, Message: fmt.Sprintf(
		"the listing of %q took longer than %s, with %d names by then; --list-timeout sets the limit", w.news.Prefix, w.timeout, w.names.Load())}
}
