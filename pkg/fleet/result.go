package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/oplog/merge"
	"warp/pkg/sink"
)

// A snapshot is kept, since several readers may ask for it in the same second.
type snapshot struct {
	figures int
	live    aggregate.LiveSnapshot
}

// stale is how old figures may be to count as current.
const stale = 3 * time.Second

// Snapshot is what the fleet as a whole has done, at the latest moment that the
// figures of all clients are of.
func (f *Fleet) Snapshot() aggregate.LiveSnapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot()
}

// Even is a snapshot from which conclusions can be drawn: ok is false while the
// newest figures of some clients are here and others' on their way, when
// the sum would be of no moment at all.
func (f *Fleet) Even() (live aggregate.LiveSnapshot, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.even() {
		return live, false // without adding anything up: that is asked often
	}
	return f.snapshot(), true
}

// uneven is how far apart the moments of figures are that do not belong together.
const uneven = int64(time.Second / 2)

// even says whether the figures of all clients are of about the same moment. The
// lock is held.
func (f *Fleet) even() bool {
	oldest, newest, now := int64(math.MaxInt64), int64(0), f.clock.now()
	for _, l := range f.links {
		switch {
		case l.lost != nil:
		case l.live == nil:
			return false
		case now-l.liveAt < int64(stale):
			oldest, newest = min(oldest, l.liveAt), max(newest, l.liveAt)
		}
	}
	return newest > 0 && newest-oldest < uneven
}

// snapshot adds up what has arrived. The lock is held.
func (f *Fleet) snapshot() aggregate.LiveSnapshot {
	if f.shown.figures == f.figures {
		return f.shown.live
	}
	var all aggregate.Live
	var clients []aggregate.LivePart
	at, now := f.clock.now(), f.clock.now()
	for _, l := range f.links {
		if l.live == nil || l.lost != nil {
			continue
		}
		all.Merge(l.live)
		clients = append(clients, l.live.Total(l.name()))
		if now-l.liveAt < int64(stale) {
			at = min(at, l.liveAt)
		}
	}
	f.shown = snapshot{f.figures, all.Snapshot(at)}
	f.shown.live.Clients = clients
	return f.shown.live
}

// Metrics returns the metrics of all clients that count.
func (f *Fleet) Metrics() (all []sink.ClientCounts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.counts != nil && l.lost == nil {
			all = append(all, sink.ClientCounts{Client: l.id, Counts: l.counts})
		}
	}
	return all
}

// Doing is what the clients do before and after the run, if it can be counted;
// empty where they do nothing of that kind.
func (f *Fleet) Doing() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	title := ""
	for _, l := range f.links {
		if l.gone == nil && !l.status.Idle && l.status.Title != "" {
			title = l.status.Title
		}
	}
	return title
}

// Progress is how far they are with what has the title, added up. What a client
// did that is gone is done. The payload that they moved for it is in bytes.
func (f *Fleet) Progress(title string) (done, total, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.status.Title == title && (l.gone == nil || l.status.Phase >= Stored) {
			done += l.status.Done
			total += l.status.Total
			bytes += l.status.Moved
		}
	}
	return done, total, bytes
}

// A Result is how the run of a fleet ended.
type Result struct {
	Sent, Failed int64
	Fatal        error // what ended it before its time
	Lost         []*Error
	Spread       time.Duration // between the first and the last client's start
	Clients      int           // that took part
}

// Result tells it once Finish has returned.
func (f *Fleet) Result() *Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &Result{Clients: len(f.links)}
	var first, last int64
	for _, l := range f.links {
		if l.lost != nil {
			r.Lost = append(r.Lost, &Error{l.name(), l.lost})
			continue
		}
		if began := l.status.Began; began != 0 {
			began -= int64(l.first.Ahead)
			if first == 0 {
				first, last = began, began
			}
			first, last = min(first, began), max(last, began)
		}
		r.add(l.name(), l.status.Outcome)
	}
	r.Spread = time.Duration(last - first)
	r.Fatal = cmp.Or(f.fatal, r.Fatal)
	if len(r.Lost) == len(f.links) && r.Fatal == nil {
		r.Fatal = fmt.Errorf("all clients were lost; the first: %w", r.Lost[0])
	}
	return r
}

func (r *Result) add(client string, o *outcome) {
	if o == nil {
		return
	}
	r.Sent += o.Sent
	r.Failed += o.Failed
	switch {
	case o.TooMany:
		r.Fatal = fmt.Errorf("%w%s", bench.ErrTooManyErrors, cutPrefix(o.Fatal, bench.ErrTooManyErrors.Error()))
	case o.Interrupted && r.Fatal == nil:
		r.Fatal = bench.ErrInterrupted
	case o.Fatal != "" && r.Fatal == nil:
		r.Fatal = &Error{client, clientFailure(o.Fatal, o.Code, false)}
	}
}

// cutPrefix is what follows prefix in text, if that begins with it.
func cutPrefix(text, prefix string) string {
	if rest, ok := strings.CutPrefix(text, prefix); ok {
		return rest
	}
	return ": " + text
}

// ErrNoLogs says that not one log arrived.
var ErrNoLogs = errors.New("no client has a log with requests")

// Merge makes one log at path of the logs of all clients that count. After that
// their copies here are removed, unless something went wrong; the returned
// names are of those that are left.
func (f *Fleet) Merge(ctx context.Context, path string) (stats merge.Stats, left []string, err error) {
	f.mu.Lock()
	var inputs []string
	var late []string
	for _, l := range f.links {
		switch {
		case l.spool == nil:
		case l.lost == nil && l.verified:
			inputs = append(inputs, l.spool.path())
		case l.lost != nil && l.spool.size > 0 && !f.plan.Job.DropLog:
			left = append(left, l.spool.path())
		}
	}
	if f.lostSinceNoted() {
		f.noteLost()
		late = slices.DeleteFunc(slices.Clone(f.notes), func(s string) bool { return !merge.IsLostShare(s) })
	}
	late = append(late, f.late...)
	marks := slices.Clone(f.marks)
	f.mu.Unlock()
	if len(inputs) == 0 {
		return stats, left, errors.Join(ErrNoLogs, f.removeSpools())
	}
	stats, err = merge.Logs(ctx, path, inputs, merge.Options{Notes: late, Marks: marks})
	if err != nil {
		return stats, append(left, inputs...), err
	}
	return stats, left, f.removeSpools()
}

// lostSinceNoted says whether a client was lost after the others had completed
// their logs, so that none of them says so. The lock is held.
func (f *Fleet) lostSinceNoted() bool {
	n := 0
	for _, l := range f.links {
		if l.lost != nil {
			n++
		}
	}
	return n > f.lostNoted
}

// Copies are the files that hold what has arrived of the logs, until those are merged.
func (f *Fleet) Copies() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.spool != nil {
			names = append(names, l.spool.path())
		}
	}
	return names
}

// removeSpools removes what was merged, and what is empty.
func (f *Fleet) removeSpools() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, l := range f.links {
		if l.spool == nil {
			continue
		}
		errs = append(errs, l.spool.close())
		if l.lost == nil || l.spool.size == 0 || f.plan.Job.DropLog {
			errs = append(errs, os.Remove(l.spool.path()))
		}
		l.spool = nil
	}
	return errors.Join(errs...)
}
