package fleet

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
)

// A sharedReport is the part that a client has of the report of a run without
// logs. It is a sink; the others may ask and tell meanwhile.
type sharedReport struct {
	ahead int64 // of this machine's clock, that rows are moved back by as merge would

	mu       sync.Mutex
	deferred *aggregate.Deferred
	moved    []oplog.Record
}

func (s *sharedReport) Write(batch []oplog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved = append(s.moved[:0], batch...)
	for i := range s.moved {
		s.moved[i].MoveBack(s.ahead)
	}
	return s.deferred.Write(s.moved)
}

func (s *sharedReport) Flush() error { return nil }

func (s *sharedReport) BeginPhase(threads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deferred.BeginPhase(threads)
}

func (s *sharedReport) bound(b []aggregate.PhaseBounds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deferred.Bound(b)
}

func (s *sharedReport) digest() []aggregate.PhaseDigest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deferred.Digest()
}

// store writes what was counted to a file beside where the log would be; nothing
// where nobody has said which windows to count in.
func (s *sharedReport) store(log string, windows []aggregate.Group) (string, error) {
	if len(windows) == 0 {
		return "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	part, err := s.deferred.Finish(windows)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(log, ".csv.zst") + ".part"
	return path, os.WriteFile(path, part, 0o600)
}

// maxPart bounds what a client may send in place of a log.
const maxPart = 32 << 20

// digests are what the clients that count know of their windows. The lock is held.
func (f *Fleet) digests() (all []aggregate.ClientDigest) {
	for _, l := range f.links {
		if l.lost == nil {
			all = append(all, aggregate.ClientDigest{Run: f.options.Run, Client: l.id, Phases: l.status.Digest})
		}
	}
	return all
}

// shareBounds tells all clients once a second what is certain of the windows of
// all, until these are closed.
func (f *Fleet) shareBounds() {
	for pause(f.ctx, time.Second) {
		f.mu.Lock()
		if f.windows != nil {
			f.mu.Unlock()
			return
		}
		bounds := f.joint.Look(f.digests())
		for _, l := range f.links {
			l.desired.Bounds = bounds
			l.wake()
		}
		f.mu.Unlock()
	}
}

// closeWindows says which windows all have had. The lock is held.
func (f *Fleet) closeWindows() (err error) {
	if f.joint == nil {
		return nil
	}
	if f.windows, err = f.joint.Close(f.digests()); err != nil {
		return err
	}
	f.windows = append([]aggregate.Group{}, f.windows...) // not nil, even where nothing was done
	return nil
}

// addParts puts together what has arrived. A client whose part cannot be read is
// lost.
func (f *Fleet) addParts() {
	if f.joint == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.lost != nil || !l.verified || l.spool == nil {
			continue
		}
		part, err := os.ReadFile(l.spool.path())
		if err == nil {
			err = f.joint.Add(part)
		}
		if err != nil {
			l.lost, l.counted = err, false
			continue
		}
		f.parts++
	}
}

// ErrNoParts says that no client has made a request.
var ErrNoParts = errors.New("no client has figures of requests")

// Report is that of a run without logs, once Finish has returned.
func (f *Fleet) Report() (*aggregate.Report, error) {
	f.mu.Lock()
	parts, digests := f.parts, f.digests()
	f.noteLost()
	notes := slices.Concat(f.notes, f.late)
	h := f.plan.Job.Header
	h.Warp, h.Benchmark = f.options.Warp, f.plan.Job.Options.Benchmark
	var trailers []oplog.Trailer
	var engines []string
	for _, l := range f.links {
		if l.lost == nil && l.status.Outcome != nil {
			trailers = append(trailers, l.status.Outcome.Trailer)
			engines = append(engines, l.status.Engine)
		}
	}
	f.mu.Unlock()
	f.dropSpools()
	if parts == 0 {
		return nil, ErrNoParts
	}
	r, err := f.joint.Report(digests)
	if err != nil {
		return nil, fmt.Errorf("put the figures of all clients together: %w", err)
	}
	slices.Sort(engines)
	h.Engine = strings.Join(slices.Compact(engines), " | ")
	t := merge.CombineTrailers(append(trailers, oplog.Trailer{Notes: notes}))
	r.Describe(h, t)
	return r, nil
}
