package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
)

// A logged keeps messages.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (h *logged) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

func (h *logged) count(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(strings.Join(h.lines, "\n"), text)
}

// What becomes of a client is said when it happens, once, and not when the run is over.
func TestContactIsTold(t *testing.T) {
	t.Parallel()
	e := embedded(t)
	away := startMachine(t, nil)
	w, m := through(t, away)
	other := startMachine(t, nil)
	said := &logged{}
	f := lead(t, func(o *Options) { o.Timeout, o.Warnf = 12*time.Second, said.add }, m, other)
	ctx, cancel := context.WithCancelCause(t.Context())
	check.OK(t, f.Connect(ctx))
	check.OK(t, f.Prepare(ctx, getPlan(t, e.Addr(), time.Hour)))
	over := make(chan error, 1)
	go func() { over <- f.Measure(ctx, func() {}) }()
	name := "client " + m.addr
	check.Eventually(t, "requests", func() bool { return working(f) && arrived(f) })
	w.cut() // which is made good at once
	w.hold()
	// Where this machine stalls, clients are silent for a while as well.
	silent, back := said.count(name+" is not reachable since "), said.count(name+" is back")
	check.Eventually(t, "word of a silent client", func() bool { return said.count(name+" is not reachable since ") > silent })
	w.release()
	check.Eventually(t, "word of its return", func() bool { return said.count(name+" is back") > back })
	w.hold()
	check.Eventually(t, "word of its end", func() bool { return said.count(name+" is given up (") == 1 })
	cancel(bench.ErrInterrupted)
	check.OK(t, <-over)
	check.OK(t, f.Finish(t.Context()))
	if n := said.count(name + " is given up"); n != 1 || said.count("client "+other.addr+" is given up") > 0 {
		t.Errorf("%q", said.lines)
	}
	_, _, err := f.Merge(t.Context(), t.TempDir()+"/all.csv.zst")
	check.OK(t, err)
	away.stop() // or its lease would be waited for
	check.OK(t, f.Clean(t.Context()))
}

func TestNews(t *testing.T) {
	t.Parallel()
	now := time.Now()
	lost := errors.New("why")
	for name, test := range map[string]struct {
		link     link
		measures bool
		want     string
	}{
		"in contact":               {link{admitted: true, contact: now}, true, ""},
		"not there yet":            {link{contact: now.Add(-time.Hour)}, false, ""},
		"silent while it prepares": {link{admitted: true, contact: now.Add(-time.Minute)}, false, "is not reachable since"},
		"silent, and reported":     {link{admitted: true, contact: now.Add(-time.Minute), reportedSilent: true}, true, ""},
		"back":                     {link{admitted: true, contact: now, reportedSilent: true}, true, "is back"},
		"lost":                     {link{admitted: true, contact: now, lost: lost}, true, "is given up (why): its share will be missing"},
		"lost, and reported":       {link{admitted: true, contact: now, lost: lost, reportedLost: true}, true, ""},
		"lost before the run":      {link{admitted: true, contact: now, lost: lost}, false, ""}, // that is an error
		"gone with its share here": {link{admitted: true, contact: now.Add(-time.Minute), gone: lost, counted: true}, true, ""},
		"released":                 {link{admitted: true, contact: now.Add(-time.Minute), status: protocol.Status{Phase: protocol.Released}}, true, ""},
	} {
		l := test.link
		l.fleet = &Fleet{measures: test.measures}
		if got := l.contactChange(silenceLimit); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		} else if again := l.contactChange(silenceLimit); again != "" {
			t.Errorf("%s: a second time: %q", name, again)
		}
	}
}
