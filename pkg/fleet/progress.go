package fleet

import (
	"math"
	"time"

	"warp/pkg/fleet/protocol"
	"warp/pkg/monitor"
	"warp/pkg/sink"
)

// A snapshot is kept, since several readers may ask for it in the same second.
type snapshot struct {
	figures int
	live    monitor.Snapshot
}

// stale is how old figures may be to count as current.
const stale = 3 * time.Second

// Snapshot is what the fleet as a whole has done, at the latest moment that the
// figures of all clients are of.
func (f *Fleet) Snapshot() monitor.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot()
}

// Even is a snapshot from which conclusions can be drawn: ok is false while the
// newest figures of some clients are here and others' on their way, when
// the sum would be of no moment at all.
func (f *Fleet) Even() (live monitor.Snapshot, ok bool) {
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
	oldest, newest, now := int64(math.MaxInt64), int64(0), f.clock.Now()
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
func (f *Fleet) snapshot() monitor.Snapshot {
	if f.shown.figures == f.figures {
		return f.shown.live
	}
	var all monitor.Live
	var clients []monitor.Part
	at, now := f.clock.Now(), f.clock.Now()
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
		if l.status.Title == title && (l.gone == nil || l.status.Phase >= protocol.Stored) {
			done += l.status.Done
			total += l.status.Total
			bytes += l.status.Moved
		}
	}
	return done, total, bytes
}
