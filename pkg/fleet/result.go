package fleet

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
)

// A Result is the outcome of a run of a fleet.
type Result struct {
	Sent, Failed int64
	Fatal        error // why the run ended early
	Lost         []*Error
	Spread       time.Duration // between the first and the last client's start
	Clients      int           // number of clients that took part
}

// Result returns the outcome after Finish has returned.
func (f *Fleet) Result() *Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &Result{Clients: len(f.links)}
	var first, last int64
	for _, l := range f.links {
		if l.lost != nil {
			r.Lost = append(r.Lost, &Error{l.name(), l.lost})
			continue
		}
		if began := l.status.Began; began != 0 {
			began -= int64(l.first.Ahead)
			if first == 0 {
				first, last = began, began
			}
			first, last = min(first, began), max(last, began)
		}
		r.add(l.name(), l.status.Outcome)
	}
	r.Spread = time.Duration(last - first)
	r.Fatal = cmp.Or(f.fatal, r.Fatal)
	if len(r.Lost) == len(f.links) && r.Fatal == nil {
		r.Fatal = fmt.Errorf("all clients were lost; the first: %w", r.Lost[0])
	}
	return r
}

func (r *Result) add(client string, o *protocol.Outcome) {
	if o == nil {
		return
	}
	r.Sent += o.Sent
	r.Failed += o.Failed
	switch {
	case o.TooMany:
		r.Fatal = fmt.Errorf("%w%s", bench.ErrTooManyErrors, cutPrefix(o.Fatal, bench.ErrTooManyErrors.Error()))
	case o.Interrupted && r.Fatal == nil:
		r.Fatal = bench.ErrInterrupted
	case o.Fatal != "" && r.Fatal == nil:
		r.Fatal = &Error{client, o.Err()}
	}
}

// cutPrefix returns text without prefix, if text begins with it.
func cutPrefix(text, prefix string) string {
	if rest, ok := strings.CutPrefix(text, prefix); ok {
		return rest
	}
	return ": " + text
}
