package live

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cheggaaa/pb/v3"

	"warp/internal/human"
)

// A Task is something with a known end: preparing objects, deleting them.
type Task struct {
	Title, Unit string
	Total       int64     // 0 = not known
	Since       time.Time // zero = now
}

// A Bar is the progress of a task.
type Bar struct {
	view        *View
	title, unit string
	total, done atomic.Int64
	bytes       atomic.Int64 // of payload
	start       time.Time
	pb          *pb.ProgressBar
	stop        func()
	rests       time.Time // since when nothing is done; zero while something is
}

// Bar shows progress until Finish is called.
func (v *View) Bar(t Task) *Bar {
	if t.Since.IsZero() {
		t.Since = v.Now()
	}
	b := &Bar{view: v, title: t.Title, unit: t.Unit, start: t.Since, pb: newTimeBar(t.Total)}
	b.total.Store(t.Total)
	b.show()
	return b
}

func (b *Bar) show() { b.stop = b.view.show(b.draw, b.printLine) }

// Rest removes the bar while nothing is done. This time does not count.
func (b *Bar) Rest() {
	if b.rests.IsZero() {
		b.stop()
		b.view.Clear()
		b.rests = b.view.Now()
	}
}

// Resume shows it again.
func (b *Bar) Resume() {
	if !b.rests.IsZero() {
		b.start, b.rests = b.start.Add(b.view.Now().Sub(b.rests)), time.Time{}
		b.show()
	}
}

// Add counts n more as done. Workers may call it; it takes no lock.
func (b *Bar) Add(n int64) { b.done.Add(n) }

// Moved counts so much more payload.
func (b *Bar) Moved(bytes int64) { b.bytes.Add(bytes) }

// Set replaces all counts. The total may grow where many clients begin one by one.
func (b *Bar) Set(done, total, bytes int64) {
	b.total.Store(total)
	b.done.Store(done)
	b.bytes.Store(bytes)
}

// Finish ends the progress with a line that summarises it.
func (b *Bar) Finish() {
	b.stop()
	b.view.Clear()
	if !b.rests.IsZero() {
		b.start = b.start.Add(b.view.Now().Sub(b.rests))
	}
	if b.view.Quiet || b.total.Load() == 0 && b.done.Load() == 0 {
		return
	}
	if b.view.JSON {
		b.printLine()
		return
	}
	elapsed := b.view.Now().Sub(b.start)
	size, speed := b.moved(elapsed)
	line := fmt.Sprintf("%s: %s", b.title, human.Count(b.done.Load(), strings.TrimSuffix(b.unit, "s"), b.unit))
	if size != "" {
		line += ", " + size
	}
	line += fmt.Sprintf(" in %s (%s %s/s", human.Brief(elapsed), rate(float64(b.done.Load())/elapsed.Seconds()), b.unit)
	if speed != "" {
		line += ", " + speed
	}
	b.view.Note(line + ")")
}

// moved returns the payload so far and its rate, "" if there is none.
func (b *Bar) moved(elapsed time.Duration) (size, speed string) {
	n := float64(b.bytes.Load())
	if n == 0 || elapsed <= 0 {
		return "", ""
	}
	return human.Bytes(n), human.Rate(n / elapsed.Seconds())
}

func (b *Bar) draw() {
	if width, _ := b.view.Size(); width > 0 {
		b.view.Draw([]string{b.line(width, b.view.Now().Sub(b.start))})
	}
}

// line returns the bar for a terminal: title, bar, percent, and as much of count,
// rates and the time that is left as there is room for.
func (b *Bar) line(width int, elapsed time.Duration) string {
	done, total := b.done.Load(), b.total.Load()
	perSecond, left := b.pace(elapsed)
	size, speed := b.moved(elapsed)
	if total <= 0 {
		return b.title + "  " + joined(fmt.Sprintf("%d %s", done, b.unit), rate(perSecond)+"/s", size, speed)
	}
	count, objects, remains := fmt.Sprintf("%d/%d", done, total), rate(perSecond)+" "+b.unit+"/s", ""
	if left > 0 {
		remains = human.Brief(left) + " left"
	}
	tail := joined(count, size, speed, objects, remains)
	for _, shorter := range []string{joined(count, speed, objects, remains), joined(count, cmp.Or(speed, objects), remains)} {
		if len(b.title)+len("  [==========] 100%  ")+len(tail) > width {
			tail = shorter
		}
	}
	b.pb.SetTotal(total)
	return timeBarLine(b.pb, b.title, tail, done, width)
}

// joined joins the parts that are not empty.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// pace returns the mean rate so far and the time left at that rate.
func (b *Bar) pace(elapsed time.Duration) (perSecond float64, left time.Duration) {
	done := b.done.Load()
	if done <= 0 || elapsed <= 0 {
		return 0, 0
	}
	perSecond = float64(done) / elapsed.Seconds()
	if total := b.total.Load(); total > done {
		left = time.Duration(float64(total-done) / perSecond * float64(time.Second))
	}
	return perSecond, left
}

// printLine writes the progress as a line of its own.
func (b *Bar) printLine() {
	elapsed := b.view.Now().Sub(b.start)
	perSecond, left := b.pace(elapsed)
	if b.view.JSON {
		b.view.Figures(b.figures(elapsed, perSecond))
		return
	}
	count := fmt.Sprint(b.done.Load())
	if total := b.total.Load(); total > 0 {
		count += fmt.Sprintf(" of %d", total)
	}
	line := fmt.Sprintf("%s: %s, %s %s, %s/s", b.title, human.Brief(elapsed), count, b.unit, rate(perSecond))
	if size, speed := b.moved(elapsed); size != "" {
		line += ", " + size + ", " + speed
	}
	if left > 0 {
		line += ", " + human.Brief(left) + " left"
	}
	b.view.Note(line)
}

// barFigures are the progress for a program.
type barFigures struct {
	Elapsed float64 `json:"elapsed_s"`
	Phase   string  `json:"phase"`
	Done    int64   `json:"done"`
	Total   int64   `json:"total,omitempty"` // where it is known
	Rate    float64 `json:"per_s"`
	Bytes   int64   `json:"bytes,omitempty"` // of payload, where there is any
	MiB     float64 `json:"mib_per_s,omitempty"`
}

func (b *Bar) figures(elapsed time.Duration, perSecond float64) barFigures {
	f := barFigures{Elapsed: human.Thousandths(elapsed.Seconds()), Phase: b.title, Done: b.done.Load(), Total: b.total.Load(), Rate: human.Thousandths(perSecond)}
	if f.Bytes = b.bytes.Load(); f.Bytes > 0 {
		f.MiB = human.Thousandths(float64(f.Bytes) / (1 << 20) / elapsed.Seconds())
	}
	return f
}

// newTimeBar returns a bar of cheggaaa/pb that does not write by itself: only
// one place draws.
func newTimeBar(total int64) *pb.ProgressBar {
	const template pb.ProgressBarTemplate = `{{string . "title"}}  {{bar . "[" "=" ">" " " "]"}} {{percent . "%3.0f%%"}}  {{string . "tail"}}`
	p := pb.New64(total).SetTemplate(template).SetWriter(io.Discard)
	return p.Set(pb.Static, true).Set(pb.Terminal, false).Set(pb.Color, false)
}

// timeBarLine renders the bar. Text that fills the line leaves no bar.
func timeBarLine(p *pb.ProgressBar, title, tail string, current int64, width int) string {
	p.SetCurrent(min(current, p.Total())).SetWidth(max(1, width))
	p.Set("title", title).Set("tail", tail)
	return strings.TrimRight(p.String(), " ")
}
