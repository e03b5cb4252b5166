package lease

import (
	"testing"
	"time"

	"warp/internal/check"
)

// Once a term is over it stays over, whichever clock says so and however good the next renewal is.
func TestTermIsOverForGood(t *testing.T) {
	t.Parallel()
	began := time.Now()
	later := func(d time.Duration) time.Time { return began.Add(d) }
	asleep := func(d time.Duration) time.Time { // what time.Now says where the monotonic clock stood still
		return began.Round(0).Add(d)
	}
	tests := map[string]struct {
		now  time.Time
		over bool
	}{
		"in time":              {later(58 * time.Second), false},
		"too late":             {later(60 * time.Second), true},
		"after a nap":          {asleep(58 * time.Second), false},
		"after a night asleep": {asleep(8 * time.Hour), true},
	}
	for name, test := range tests {
		term := newTerm(time.Minute)
		if term.over(later(time.Hour)) {
			t.Errorf("%s: it is over before it has begun", name)
		}
		term = newTerm(time.Minute)
		check.OK(t, term.renew(began, began))
		if term.over(test.now) != test.over {
			t.Errorf("%s: over is %t", name, !test.over)
		}
		if err := term.renew(test.now, test.now); (err != nil) != test.over || term.over(began) != test.over {
			t.Errorf("%s: renewed: %v", name, err)
		}
	}
	var lapsed error
	term := newTerm(time.Minute)
	_ = term.renew(began, began)
	term.onLapse(func(err error) { lapsed = err })
	if err := term.renew(later(50*time.Second), later(70*time.Second)); err == nil || lapsed == nil {
		t.Errorf("an answer that came too late renews: %v, lapsed: %v", err, lapsed)
	}
}
