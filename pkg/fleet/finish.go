package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"warp/pkg/fleet/protocol"
	"warp/pkg/oplog/merge"
)

// Finish compares the clocks again, completes all logs, and waits until they
// have arrived.
func (f *Fleet) Finish(ctx context.Context) error {
	f.measureClocks()
	_ = f.await(ctx, "to compare the clocks after the run", 30*time.Second, forCounted, func(l *link) bool { return l.now.Complete() })
	f.mu.Lock()
	f.judgeClocks()
	f.mu.Unlock()
	f.reportContacts(silenceLimit)
	f.mu.Lock()
	f.noteLost()
	notes := slices.Clone(f.notes)
	f.mu.Unlock()
	f.setDesired(f.links, func(o *protocol.DesiredState) { o.Goal, o.Notes = max(o.Goal, protocol.Stored), notes })
	return f.await(ctx, protocol.Stored.String(), f.options.StepTimeout, forCounted, func(l *link) bool { return l.arrived() })
}

// arrived reports whether the client's complete log has arrived. The caller
// holds the lock.
func (l *link) arrived() bool {
	switch {
	case l.counted:
		return true
	case l.status.Phase < protocol.Stored:
		return false
	case l.spool == nil || l.status.Bytes == 0:
		l.counted = true
		return true
	case l.spool.Size() < l.status.Bytes:
		return false
	}
	if err := l.spool.Check(l.status.Bytes, l.status.SHA256); err != nil {
		l.discount(err)
		return true
	}
	l.verified, l.counted = true, true
	return true
}

// AddNote adds a note to the merged log after the clients have completed
// theirs.
func (f *Fleet) AddNote(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, text)
}

// noteLost records whose share is missing. The caller holds the lock.
func (f *Fleet) noteLost() {
	left := 0
	f.notes = slices.DeleteFunc(f.notes, merge.IsLostShare)
	for _, l := range f.links {
		if l.lost == nil {
			left++
		}
	}
	for _, l := range f.links {
		if l.lost == nil {
			continue
		}
		when := ""
		if !f.begun.IsZero() {
			when = fmt.Sprintf(", last message %v after the start", max(0, l.contact.Sub(f.begun)).Round(time.Second))
		}
		f.notes = append(f.notes, fmt.Sprintf("client %s was lost%s (%v): %s",
			l.name(), when, l.lost, merge.LostShare(l.id, left, len(f.links))))
	}
	f.lostNoted = len(f.links) - left
}

// ErrNoLogs reports that no log arrived.
var ErrNoLogs = errors.New("no client has a log with requests")

// Merge merges the logs of all counted clients into path. It then removes their
// copies here, unless something went wrong, and returns the names of the
// remaining copies.
func (f *Fleet) Merge(ctx context.Context, path string) (stats merge.Stats, left []string, err error) {
	f.mu.Lock()
	var inputs []string
	var late []string
	for _, l := range f.links {
		switch {
		case l.spool == nil:
		case l.lost == nil && l.verified:
			inputs = append(inputs, l.spool.Path())
		case l.lost != nil && l.spool.Size() > 0 && !f.plan.Job.DropLog:
			left = append(left, l.spool.Path())
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

// lostSinceNoted reports whether a client was lost after the others had
// completed their logs, so that no log mentions it. The caller holds the lock.
func (f *Fleet) lostSinceNoted() bool {
	n := 0
	for _, l := range f.links {
		if l.lost != nil {
			n++
		}
	}
	return n > f.lostNoted
}

// Copies returns the files with the received parts of the logs, until these are
// merged.
func (f *Fleet) Copies() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.spool != nil {
			names = append(names, l.spool.Path())
		}
	}
	return names
}

// removeSpools removes merged and empty spools.
func (f *Fleet) removeSpools() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, l := range f.links {
		if l.spool == nil {
			continue
		}
		errs = append(errs, l.spool.Close())
		if l.lost == nil || l.spool.Size() == 0 || f.plan.Job.DropLog {
			errs = append(errs, os.Remove(l.spool.Path()))
		}
		l.spool = nil
	}
	return errors.Join(errs...)
}
