package bench

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// What has to be done before the process ends is done for a worker that panics,
// and for no other. Goexit stands in for a panic, which no test survives.
func TestPanicking(t *testing.T) {
	t.Parallel()
	var called atomic.Int32
	e := &Env{Workers: []*Worker{{ID: 0}, {ID: 1}, {ID: 2}}, panicking: func() { called.Add(1) }}
	err := e.each(func(w *Worker) error {
		if w.ID == 1 {
			runtime.Goexit()
		}
		return nil
	})
	if err != nil || called.Load() != 1 {
		t.Errorf("called %d times, %v", called.Load(), err)
	}
}
