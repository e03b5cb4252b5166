package fleet

import (
	"context"
	"fmt"
	"time"

	"warp/internal/pause"
	"warp/pkg/fleet/clock"
)

// Connect reserves all clients and compares their clocks.
func (f *Fleet) Connect(ctx context.Context) error {
	for _, l := range f.links {
		f.work.Go(func() { l.run(f.ctx) })
	}
	f.work.Go(f.watchContacts)
	f.measureClocks()
	stop := f.noteAbsent()
	defer stop()
	noted := map[string]string{}
	timeout := max(f.options.BusyTimeout, f.options.ConnectTimeout) + 10*time.Second
	err := f.await(ctx, "to compare the clocks", timeout, forEvery, func(l *link) bool {
		if l.note != "" && noted[l.id] != l.note {
			noted[l.id] = l.note
			f.options.Logf("waiting for client %s: %s", l.name(), l.note)
		}
		return l.now.Complete()
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		l.first, l.last = l.now, l.now
		if l.first.TooFar() {
			return &Error{l.name(), fmt.Errorf("its clock is off by %v, and the limit is %v: set it, by NTP for example",
				l.first.Ahead.Round(time.Millisecond), clock.MaxSkew)}
		}
	}
	return nil
}

// noteAbsent reports from time to time which clients are missing, and why,
// while clients are being started.
func (f *Fleet) noteAbsent() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	f.work.Go(func() {
		for wait := 5 * time.Second; pause.For(ctx, wait); wait = 30 * time.Second {
			if text := f.absent(); text != "" {
				f.options.Logf("%s", text)
			}
		}
	})
	return cancel
}

// absent counts the clients that have not answered, and returns the name of
// one.
func (f *Fleet) absent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first *link
	missing := 0
	for _, l := range f.links {
		if l.admitted || l.gone != nil || l.dialError == nil {
			continue
		}
		if missing++; first == nil {
			first = l
		}
	}
	if missing == 0 {
		return ""
	}
	if len(f.links) == 1 {
		return fmt.Sprintf("client %s does not answer yet: %v; it is given %v", first.name(), first.dialError, f.options.ConnectTimeout)
	}
	if missing == 1 {
		return fmt.Sprintf("client %s of %d does not answer yet: %v; it is given %v", first.name(), len(f.links), first.dialError, f.options.ConnectTimeout)
	}
	return fmt.Sprintf("%d of %d clients do not answer yet, client %s among them: %v; each is given %v",
		missing, len(f.links), first.name(), first.dialError, f.options.ConnectTimeout)
}

// measureClocks samples the clocks of all clients many times.
func (f *Fleet) measureClocks() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.lost == nil {
			l.now, l.samples = clock.Offset{}, clock.Samples
			l.wake()
		}
	}
}

// compareAgain compares the clocks again, because the preparation takes time.
func (f *Fleet) compareAgain(ctx context.Context, when string) error {
	f.measureClocks()
	err := f.await(ctx, "to compare the clocks "+when, 30*time.Second, forEvery, func(l *link) bool { return l.now.Complete() })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if err == nil {
			l.last = l.now
		}
	}
	return err
}

// minDrift is the smallest drift worth reporting: clients start within it.
const minDrift = 10 * time.Millisecond

// judgeClocks reports the clocks that have drifted against ours. The caller
// holds the lock.
func (f *Fleet) judgeClocks() {
	for _, l := range f.links {
		if l.lost != nil || l.now.Samples < clock.Samples {
			continue
		}
		drift := l.now.Ahead - l.first.Ahead
		doubt := (l.now.RoundTrip + l.first.RoundTrip) / 2
		l.last = l.now
		switch {
		case drift.Abs()-doubt > clock.MaxSkew:
			l.discount(fmt.Errorf("its clock moved by %v during the run, so its times are useless", drift.Round(time.Millisecond)))
		case drift.Abs()-doubt > minDrift:
			f.notes = append(f.notes, fmt.Sprintf("the clock of client %s moved by %v against the coordinator's during the run", l.name(), drift.Round(100*time.Microsecond)))
		}
	}
}
