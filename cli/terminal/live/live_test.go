package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cheggaaa/pb/v3"
)

// lines is a console that draws nothing in place.
type lines struct{ bytes.Buffer }

func (l *lines) Note(text string) { fmt.Fprintln(l, text) }
func (l *lines) Draw([]string)    {}
func (l *lines) Clear()           {}
func (l *lines) Size() (int, int) { return 0, 0 }

func (l *lines) Keys(func(rune)) func() { return nil }

func (l *lines) Figures(v any) {
	if err := json.NewEncoder(l).Encode(v); err != nil {
		panic(err)
	}
}

// A bar that rests and goes on is one, whose time is that in which something was done.
func TestBarRests(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &lines{}
	v := &View{Console: c, Interval: time.Hour, Now: func() time.Time { return now }}
	b := v.Bar(Task{Title: "Cleaning up", Unit: "objects"})
	b.Add(2000)
	now = now.Add(2 * time.Second)
	b.Rest()
	now = now.Add(time.Minute)
	b.Rest()
	b.Resume()
	b.Add(270)
	now = now.Add(time.Second)
	b.Rest()
	now = now.Add(time.Minute)
	b.Finish()
	if want := "Cleaning up: 2270 objects in 3.0s (757 objects/s)\n"; !strings.HasSuffix(c.String(), want) || strings.Count(c.String(), "\n") != 1 {
		t.Errorf("%q, want %q", c.String(), want)
	}
}

// The total of what many clients do grows as they begin; one that is not known is not said.
func TestBarTotal(t *testing.T) {
	t.Parallel()
	c := &lines{}
	v := &View{Console: c, Interval: time.Hour, Now: time.Now, JSON: true}
	b := v.Bar(Task{Title: "Preparing", Unit: "objects", Total: 4400})
	b.Add(5000)
	b.Set(5000, 5000, 0)
	if line := b.line(100, time.Second); !strings.Contains(line, "100%  5000/5000") {
		t.Errorf("%q", line)
	}
	b.Finish()
	if !strings.Contains(c.String(), `"done":5000,"total":5000,`) {
		t.Errorf("%q", c.String())
	}
	c.Reset()
	b = v.Bar(Task{Title: "Cleaning up", Unit: "objects"})
	b.Add(5000)
	b.Finish()
	if strings.Contains(c.String(), "total") || !strings.Contains(c.String(), `"done":5000,`) {
		t.Errorf("%q", c.String())
	}
}

func TestBarLine(t *testing.T) {
	t.Parallel()
	b := &Bar{title: "Preparing", unit: "objects", pb: newTimeBar(2500)}
	b.total.Store(2500)
	b.Add(1000)
	if got, want := b.line(100, 4*time.Second), "Preparing  [===============>                      ]  40%  1000/2500, 250 objects/s, 6.0s left"; strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") && pb.CellCount(got) != 100 {
		t.Errorf("got %q", got)
	}
	b.total.Store(0)
	if got := b.line(80, 4*time.Second); got != "Preparing  1000 objects, 250/s" {
		t.Errorf("got %q", got)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "-", 812 * time.Nanosecond: "812ns", 999 * time.Microsecond: "999µs", 1234 * time.Microsecond: "1.23ms",
		25 * time.Millisecond: "25.0ms", 250 * time.Millisecond: "250ms", 1234 * time.Millisecond: "1.23s", 125 * time.Second: "2m5s",
	} {
		if got := latency(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
