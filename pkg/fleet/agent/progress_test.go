package agent

import (
	"testing"

	"warp/pkg/fleet/protocol"
)

// A client cleans up several buckets, and then after lost clients: that is one sum. It does not contain what the client
// removed of older runs.
func TestCleaningIsOneSum(t *testing.T) {
	t.Parallel()
	j := &job{changed: make(chan struct{})}
	do := func(n int64) {
		j.Begin("Cleaning up", 0)
		j.Add(n)
		j.End()
	}
	do(7) // of an older run
	j.status.Phase = protocol.Stored
	do(1000)
	do(50)
	j.status.Phase = protocol.Cleaned
	do(270)
	if j.status.Done != 1320 {
		t.Errorf("%d were removed", j.status.Done)
	}
}

// The bytes of a phase are counted from its begin, and stay when it is over.
func TestMoved(t *testing.T) {
	t.Parallel()
	j := &job{}
	j.Begin("Preparing", 2)
	j.Moved(20)
	j.Moved(30)
	if j.End(); j.status.Moved != 50 {
		t.Errorf("it moved %d", j.status.Moved)
	}
	if j.Begin("Cleaning up", 2); j.status.Moved != 0 {
		t.Errorf("another phase moved %d", j.status.Moved)
	}
}
