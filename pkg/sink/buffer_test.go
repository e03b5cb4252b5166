package sink

import (
	"errors"
	"testing"
	"time"
)

// What does not fit is dropped and counted, and the rest arrives in order.
func TestBufferDrops(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	var got []int
	b := newBuffer(3, func(n int) error {
		<-gate
		got = append(got, n)
		return nil
	}).start()
	for n := range 10 {
		b.offerWhole(n, 2)
	}
	close(gate)
	lost, offered, err := b.finish(time.Minute)
	if lost != 14 || offered != 20 || err != nil {
		t.Errorf("lost %d of %d: %v", lost, offered, err)
	}
	if len(got) != 3 || got[0] != 0 || got[2] != 2 {
		t.Errorf("got %v", got)
	}
}

// A batch that fails is lost, and the rest is delivered.
func TestBufferFails(t *testing.T) {
	t.Parallel()
	b := newBuffer(10, func(n int) error {
		if n == 1 {
			return errors.New("no")
		}
		return nil
	}).start()
	for n := range 3 {
		b.offerWhole(n, 1)
	}
	if lost, offered, err := b.finish(time.Minute); lost != 1 || offered != 3 || err == nil || err.Error() != "no" {
		t.Errorf("lost %d of %d: %v", lost, offered, err)
	}
}

// A receiver that hangs costs no more than the limit, and its batch is lost.
func TestBufferHangs(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	defer close(gate)
	b := newBuffer(10, func(int) error { <-gate; return nil }).start()
	b.offerWhole(1, 1)
	b.offerWhole(2, 1)
	lost, _, err := b.finish(50 * time.Millisecond)
	if lost != 2 || err == nil || err.Error() != "it did not answer within 50ms of the end" {
		t.Errorf("lost %d: %v", lost, err)
	}
}
