package recording

import (
	"testing"
	"time"
)

// A deaf coordinator decides nothing.
type deaf struct{}

func (deaf) Warm(int) {}
func (deaf) Ended()   {}

// Rows wait for the start as long as a client may be cut off from its
// coordinator, unless they fill half of what may wait.
func TestRowsWaitForBegin(t *testing.T) {
	t.Parallel()
	now := int64(time.Hour)
	w := NewWindow(func() int64 { return now }, deaf{})
	w.Start(now, WarmUp{Workers: 1})
	w.next(0, 1)
	if w.mustWait(0) {
		t.Error("rows wait before the run is warm")
	}
	w.warm(1, 0, true)
	for _, c := range []struct {
		after  time.Duration
		chunks int64
		want   bool
	}{{0, 0, true}, {14 * time.Second, maxBacklog / 4, true}, {14 * time.Second, maxBacklog / 2, false}, {15 * time.Second, 0, false}} {
		now = int64(time.Hour + c.after)
		if got := w.mustWait(c.chunks); got != c.want {
			t.Errorf("after %s with %d chunks: %v", c.after, c.chunks, got)
		}
	}
	now = int64(time.Hour + 10*time.Second)
	if err := w.SetBegin(int64(time.Hour + time.Second)); err != nil {
		t.Error(err)
	}
	if w.mustWait(0) {
		t.Error("rows wait for what is known")
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	var p pauses
	p.add(at, 900*time.Millisecond, 0)
	p.add(at.Add(10*time.Second), 0, 5*time.Second)
	p.add(at.Add(20*time.Second), 2*time.Second, 0)
	if len(p.all) != 2 {
		t.Fatalf("%+v", p.all)
	}
	if in := p.inside(at.Add(14*time.Second), at.Add(19*time.Second)); len(in) != 1 || in[0].Seconds < 4.8 || in[0].Seconds > 5 {
		t.Errorf("%+v", in)
	}
	if in := p.inside(at, at.Add(10*time.Second)); len(in) != 0 {
		t.Errorf("%+v", in)
	}
}
