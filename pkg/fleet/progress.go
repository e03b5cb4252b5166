package fleet

import (
	"math"
	"time"

	"warp/pkg/fleet/protocol"
	"warp/pkg/monitor"
	"warp/pkg/sink"
)

// A snapshot is cached, because several readers may request it in the same
// second.
type snapshot struct {
	figures int
	live    monitor.Snapshot
}

// stale is the age at which figures are no longer current.
const stale = 3 * time.Second

// Snapshot returns the totals of the fleet at the latest moment for which all
// clients have sent figures.
func (f *Fleet) Snapshot() monitor.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot()
}

// Even returns a snapshot from which conclusions can be drawn. It returns false
// while the latest figures of only some clients have arrived: their sum would
// mix different moments.
func (f *Fleet) Even() (live monitor.Snapshot, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.even() {
		return live, false // without adding up, because Even is called often
	}
	return f.snapshot(), true
}

// uneven is the time difference from which figures refer to different moments.
const uneven = int64(time.Second / 2)

// even reports whether the figures of all clients refer to about the same
// moment. The caller holds the lock.
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

// snapshot adds up the received figures. The caller holds the lock.
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

// Metrics returns the metrics of all counted clients.
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

// Doing returns the current step of the clients before and after the run if it
// can be counted, or "".
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

// Progress returns the sum of the clients' progress in the step with this
// title. A client that is gone counts only if its results were stored. bytes is
// the payload moved.
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
