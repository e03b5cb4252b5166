package fleet

import (
	"errors"
	"testing"

	"warp/pkg/bench"
)

// What several clients have to say is one line.
func TestJoinErrors(t *testing.T) {
	t.Parallel()
	a, b := &Error{"a", errQuit}, &Error{"b", errDiffers}
	err := bench.JoinErrors([]error{nil, a, nil, b})
	if err == nil || err.Error() != a.Error()+"; "+b.Error() || !errors.Is(err, errQuit) || !errors.Is(err, errDiffers) {
		t.Errorf("%v", err)
	}
	if err := bench.JoinErrors([]error{nil, nil}); err != nil {
		t.Error(err)
	}
}

// What a client does in several buckets, and for lost clients as well, is one sum; what it removed of older runs is
// not in it, and what a client did that is gone is.
func TestCleaningIsOneSum(t *testing.T) {
	t.Parallel()
	const title = "Cleaning up"
	j := &job{changed: make(chan struct{})}
	do := func(n int64) {
		j.Begin(title, 0)
		j.Add(n)
		j.End()
	}
	do(7) // of an older run
	j.status.Phase = Stored
	do(1000)
	do(50)
	j.status.Phase = Cleaned
	do(270)
	if j.status.Done != 1320 {
		t.Errorf("%d were removed", j.status.Done)
	}
	f := &Fleet{links: []*link{
		{status: j.status},
		{status: status{Phase: Stored, Title: title, Done: 30}, gone: errDiffers},  // died while it cleaned up
		{status: status{Phase: Prepared, Title: title, Done: 5}, gone: errDiffers}, // and in the run: those were of an older one
	}}
	if done, _, _ := f.Progress(title); done != 1350 {
		t.Errorf("all removed %d", done)
	}
}

// What a phase has moved is counted from its begin, and stays when it is over.
func TestMoved(t *testing.T) {
	t.Parallel()
	j := &job{}
	j.Begin("Preparing", 2)
	j.Moved(20)
	j.Moved(30)
	j.End()
	f := &Fleet{links: []*link{{status: j.status}, {status: status{Title: "Preparing", Moved: 7}}}}
	if _, _, bytes := f.Progress("Preparing"); bytes != 57 {
		t.Errorf("both moved %d", bytes)
	}
	if j.Begin("Cleaning up", 2); j.status.Moved != 0 {
		t.Errorf("another phase moved %d", j.status.Moved)
	}
}
