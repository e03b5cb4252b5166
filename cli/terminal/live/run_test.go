package live

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cheggaaa/pb/v3"

	"warp/internal/check"
	"warp/pkg/counter"
	"warp/pkg/monitor"
)

// A fake is a run whose figures a test sets.
type fake struct {
	*RunView
	now    time.Time
	dead   string // a host that does not answer
	stuck  bool   // no request ends any more
	totals monitor.Snapshot
}

func newFake(hosts, clients int) *fake {
	f := &fake{now: time.Unix(1e9, 0)}
	f.totals.Ops = []monitor.Op{
		{Op: "DELETE", P50: 72 * time.Microsecond, P99: 8 * time.Millisecond},
		{Op: "GET", P50: 1234 * time.Microsecond, P99: 25 * time.Millisecond},
		{Op: "PUT", P50: 812 * time.Microsecond, P99: 2 * time.Second, Counter: counter.Counter{Errors: 1234}},
	}
	for i := range hosts {
		f.totals.Hosts = append(f.totals.Hosts, monitor.Part{Name: fmt.Sprintf("http://10.0.0.%d:9000", i+1)})
	}
	for i := range clients {
		f.totals.Clients = append(f.totals.Clients, monitor.Part{Name: fmt.Sprintf("load-%d:7761", i+1)})
	}
	v := &View{Console: &lines{}, Now: func() time.Time { return f.now }}
	f.RunView = &RunView{view: v, snapshot: f.snapshot, start: f.now, length: 5 * time.Minute, pb: newTimeBar(int64(5 * time.Minute))}
	f.RunView.keys = keyboard{there: true, note: v.Note, actions: Actions{Mark: func(string) error { return nil }}}
	return f
}

func (f *fake) snapshot() monitor.Snapshot {
	s := f.totals
	s.At, s.Hosts, s.Clients = f.now.UnixNano(), slices.Clone(s.Hosts), slices.Clone(s.Clients)
	return s
}

// pass lets time go by.
func (f *fake) pass(d time.Duration) {
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(refresh)
		n := uint64(1000)
		if f.stuck {
			n = 0
		}
		for i := range f.totals.Ops {
			op := &f.totals.Ops[i]
			share := uint64(i + 1)
			op.Requests += n * share
			op.Objects += n * share
			if op.Op != "DELETE" {
				op.Bytes += n * share << 10
			}
			op.Current = monitor.Rate{Bytes: float64(n * share * 4 << 10), Objects: float64(n * share * 4)}
			op.Average = monitor.Rate{Bytes: 8 << 20}
		}
		slow := func(parts []monitor.Part) { // the later ones are slower
			for i := range parts {
				if parts[i].Name == f.dead {
					continue
				}
				parts[i].Requests += n
				parts[i].Objects += n
				parts[i].Bytes += n << 10
				parts[i].Time.Sum += time.Duration(n) * time.Duration(i+1) * time.Millisecond
			}
		}
		slow(f.totals.Hosts)
		slow(f.totals.Clients)
		f.draw(80)
	}
}

func (f *fake) draw(width int) string {
	return strings.Join(f.lines(width, 23, f.now.Sub(f.start)), "\n") + "\n"
}

// The view in several states and widths: terminals of 40, 60, 80, 120 and 200 columns,
// less the margin of a screen.
func TestRunGolden(t *testing.T) {
	t.Parallel()
	states := map[string]func() *fake{
		"mixed": func() *fake {
			f := newFake(1, 0)
			f.pass(20 * time.Second)
			return f
		},
		"hosts": func() *fake { // one of which answers no more
			f := newFake(4, 0)
			f.pass(70 * time.Second)
			f.dead = "http://10.0.0.2:9000"
			f.pass(8 * time.Second)
			return f
		},
		"fleet": func() *fake {
			f := newFake(12, 3)
			f.pass(20 * time.Second)
			return f
		},
		"frozen": func() *fake {
			f := newFake(2, 0)
			f.pass(20 * time.Second)
			f.stuck = true
			f.pass(7 * time.Second)
			return f
		},
		"help": func() *fake {
			f := newFake(1, 0)
			f.pass(time.Second)
			f.press('?')
			return f
		},
	}
	for name, state := range states {
		var all strings.Builder
		f := state()
		for _, width := range []int{37, 57, 77, 117, 197} {
			text := f.draw(width)
			for line := range strings.Lines(text) {
				if n := pb.CellCount(strings.TrimSuffix(line, "\n")); n > width && width >= 57 {
					t.Errorf("%s: %d of %d columns: %s", name, n, width, line)
				}
			}
			fmt.Fprintf(&all, "%d columns:\n%s\n", width, text)
		}
		check.Golden(t, "testdata/"+name+".txt", all.String())
	}
}

// Where there is too little room, hosts go first and the keys stay.
func TestRunLowTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(8, 3)
	f.pass(5 * time.Second)
	for height := 8; height < 23; height++ {
		lines := f.lines(77, height, time.Second)
		if len(lines) > height || !strings.HasPrefix(lines[len(lines)-1], "keys: ") {
			t.Errorf("%d lines of %d:\n%s", len(lines), height, strings.Join(lines, "\n"))
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	var marks []string
	stopped := 0
	refuse := false
	k := keyboard{there: true, note: func(text string) { said.WriteString(text + "\n") }, actions: Actions{
		Stop: func() { stopped++ },
		Mark: func(text string) error {
			if refuse {
				return errors.New("no place for it")
			}
			marks = append(marks, text)
			return nil
		},
	}}
	press := func(text string) {
		for _, key := range text {
			if act := k.press(key); act != nil {
				act()
			}
		}
	}
	press("x\x03?")
	if len(k.lines(57)) < 4 {
		t.Errorf("help: %q", k.lines(57))
	}
	press("?")
	press("mdisk größx\x7f pulled q\x1b")
	if len(marks) > 0 || stopped > 0 {
		t.Errorf("marks %q, stopped %d after a mark that was dropped", marks, stopped)
	}
	press("mwrong\x15disk 1 pulled, q?\r")
	press("m\n")
	refuse = true
	press("mx\r")
	if got := strings.Join(marks, "|"); got != "disk 1 pulled, q?|mark" {
		t.Errorf("marks are %q", got)
	}
	if got := said.String(); got != "no mark was set: no place for it\n" {
		t.Errorf("%q", got)
	}
	press("m" + strings.Repeat("long ", 60))
	if lines := k.lines(57); len([]rune(lines[0])) != 57 || !strings.HasSuffix(lines[0], "long _") {
		t.Errorf("%q", lines)
	}
	press("\x1bqq")
	if stopped != 1 || !strings.Contains(k.lines(57)[0], "stopping") {
		t.Errorf("stopped %d times, %q", stopped, k.lines(57))
	}
	k.actions.Mark, k.stopped = nil, false
	press("m")
	if k.mark != nil || strings.Contains(strings.Join(k.lines(57), " "), "mark") {
		t.Errorf("marks where there are none: %q", k.lines(57))
	}
	k.there = false
	if k.lines(57) != nil {
		t.Errorf("keys that nobody reads: %q", k.lines(57))
	}
}

// The first snapshot of a fleet has neither figures nor a time, and a process may
// be stopped for long.
func TestHistoryGaps(t *testing.T) {
	t.Parallel()
	f := newFake(1, 0)
	f.history.add(&monitor.Snapshot{})
	f.pass(3 * time.Second)
	f.now = f.now.Add(1e6 * time.Hour)
	f.pass(3 * time.Second)
	if rates := f.history.rates(&f.totals.Ops[0]); len(rates) > minute {
		t.Errorf("%d rates of a minute", len(rates))
	}
}

// What a key does may come when the view is over. It must not be drawn then.
func TestKeyAfterFinish(t *testing.T) {
	t.Parallel()
	f := newFake(1, 0)
	screen := &drawn{}
	f.view.Console = screen
	f.stop = func() {}
	f.press('?')
	if screen.n != 1 {
		t.Errorf("drawn %d times", screen.n)
	}
	f.Finish()
	f.press('?')
	if screen.n != 1 {
		t.Error("drawn after its end")
	}
}

// drawn counts how often it is drawn on.
type drawn struct {
	lines
	n int
}

func (d *drawn) Draw([]string)    { d.n++ }
func (d *drawn) Size() (int, int) { return 80, 24 }
