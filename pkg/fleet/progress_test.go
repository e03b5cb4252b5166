package fleet

import (
	"errors"
	"testing"

	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
)

// What several clients have to say is one line.
func TestJoinErrors(t *testing.T) {
	t.Parallel()
	a, b := &Error{"a", errNothingKept}, &Error{"b", logcopy.ErrDiffers}
	err := bench.JoinErrors([]error{nil, a, nil, b})
	if err == nil || err.Error() != a.Error()+"; "+b.Error() || !errors.Is(err, errNothingKept) || !errors.Is(err, logcopy.ErrDiffers) {
		t.Errorf("%v", err)
	}
	if err := bench.JoinErrors([]error{nil, nil}); err != nil {
		t.Error(err)
	}
}

// The progress of all clients is one sum, with the work of clients that are gone since.
func TestProgress(t *testing.T) {
	t.Parallel()
	const title = "Cleaning up"
	f := &Fleet{links: []*link{
		{status: protocol.Status{Phase: protocol.Cleaned, Title: title, Done: 1320, Moved: 50}},
		{status: protocol.Status{Phase: protocol.Stored, Title: title, Done: 30, Moved: 7}, gone: logcopy.ErrDiffers}, // died while it cleaned up
		{status: protocol.Status{Phase: protocol.Prepared, Title: title, Done: 5}, gone: logcopy.ErrDiffers},          // and in the run: those were of an older one
		{status: protocol.Status{Phase: protocol.Cleaned, Title: "Preparing", Done: 9}},
	}}
	if done, _, bytes := f.Progress(title); done != 1350 || bytes != 57 {
		t.Errorf("all removed %d and moved %d", done, bytes)
	}
}
