package agent

import (
	"sync"

	"warp/pkg/aggregate"
	"warp/pkg/oplog"
)

// A clientSummary is a sink that counts the requests of one client by the clock
// of the coordinator, as a merge of the logs would.
type clientSummary struct {
	ahead int64 // of this machine's clock

	mu      sync.Mutex
	summary *aggregate.Summary
	moved   []oplog.Record
}

func (s *clientSummary) Write(batch []oplog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved = append(s.moved[:0], batch...)
	for i := range s.moved {
		s.moved[i].MoveBack(s.ahead)
	}
	return s.summary.Write(s.moved)
}

func (s *clientSummary) Flush() error { return nil }

// SetWindow sets the instants of the window as they become known.
func (s *clientSummary) SetWindow(w oplog.Window) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.MoveBack(s.ahead)
	return s.summary.SetWindow(w)
}

// encode encodes the summary for the coordinator.
func (s *clientSummary) encode() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary.Encode()
}
