package cli

import (
	"errors"
	"slices"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/oplog"
)

// A marker notes what somebody does to the store while a session measures. Every
// way of setting a mark (a key, the live page, warp mark, a signal, a plan) goes
// through mark; what draws marks asks list.
type marker struct {
	set func(text string) (oplog.Mark, error) // of what makes the load

	mu  sync.Mutex
	all []oplog.Mark
}

var errNotMeasured = errors.New("the run is not measured now, so it has no place for a mark")

// mark sets a mark of this moment, and fails where nothing is measured or the
// text is none. The log and the report have it from then on.
func (m *marker) mark(text string) (oplog.Mark, error) {
	// Under the lock, so that the list is in order of time.
	m.mu.Lock()
	defer m.mu.Unlock()
	mark, err := m.set(text)
	switch {
	case errors.Is(err, bench.ErrNotMeasuring):
		return mark, errNotMeasured
	case err != nil:
		return mark, err
	}
	m.all = append(m.all, mark)
	return mark, nil
}

// list returns the marks so far, in order of time.
func (m *marker) list() []oplog.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

// mark sets a mark and shows it.
func (s *session) mark(text string) (oplog.Mark, error) {
	mark, err := s.marker.mark(text)
	if err == nil {
		s.Notef("marked at %s: %s", mark.Time().In(time.Local).Format("15:04:05"), mark.Text)
	}
	return mark, err
}

// marks returns the marks so far, in order of time.
func (s *session) marks() []oplog.Mark { return s.marker.list() }
