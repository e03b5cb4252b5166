package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/fatih/color"
	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/cli/terminal"
	"warp/internal/human"
	"warp/pkg/aggregate"
)

// progressFlags say how often a run without a terminal tells how it goes.
type progressFlags struct {
	interval time.Duration
	output   string // file for the same lines
}

func (p *progressFlags) outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "stats-output", Destination: &p.output, TakesFile: true, Hidden: true,
		Usage: "also write the lines of --stats-interval to a new `FILE`, on a terminal and with --quiet too"}
}

func (p *progressFlags) flag() cli.Flag {
	return &flagtype.Duration{Name: "stats-interval", Aliases: []string{"statsinterval"}, Value: 10 * time.Second, Destination: &p.interval,
		Usage: "`DURATION` between the lines of progress where there is no terminal",
		Validator: func(d time.Duration) error {
			if d < 100*time.Millisecond {
				return flagtype.Wrong("%s is too short; the minimum is 100ms", human.Duration(d))
			}
			return nil
		}}
}

// every calls tick at that interval until the returned function is called,
// which waits for a call in progress.
func every(interval time.Duration, tick func()) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(interval)
	go func() {
		defer close(ended)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				tick()
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}

// A bar is the progress of something with a known end: preparing objects,
// deleting them.
type bar struct {
	con         *console
	title, unit string
	total, done atomic.Int64
	start       time.Time
	pb          *pb.ProgressBar
	interval    time.Duration
	stop        func()
	rests       time.Time // since when nothing is done; zero while something is
}

// startBar shows progress towards total until finish is called. A total of 0
// means that it is not known.
func (c *console) startBar(title, unit string, total int64, interval time.Duration) *bar {
	return c.startBarAt(c.now(), title, unit, total, interval)
}

// startBarAt is startBar for what has been going on for a moment.
func (c *console) startBarAt(start time.Time, title, unit string, total int64, interval time.Duration) *bar {
	b := &bar{con: c, title: title, unit: unit, start: start, pb: newTimeBar(total), interval: interval}
	b.total.Store(total)
	b.show()
	return b
}

func (b *bar) show() {
	switch {
	case b.con.quiet:
		b.stop = func() {}
	case b.con.screen != nil:
		b.drawNow()
		b.stop = every(b.con.refresh, b.drawNow)
	default:
		b.stop = every(b.interval, b.tell)
	}
}

// rest takes the bar away while nothing is done. That time does not count.
func (b *bar) rest() {
	if b.rests.IsZero() {
		b.stop()
		b.con.restore()
		b.rests = b.con.now()
	}
}

// resume shows it again.
func (b *bar) resume() {
	if !b.rests.IsZero() {
		b.start, b.rests = b.start.Add(b.con.now().Sub(b.rests)), time.Time{}
		b.show()
	}
}

// add counts n more as done. Workers may call it; it takes no lock.
func (b *bar) add(n int64) { b.done.Add(n) }

// finish ends the progress with a line that says what was done.
func (b *bar) finish() {
	b.stop()
	b.con.restore()
	if !b.rests.IsZero() {
		b.start = b.start.Add(b.con.now().Sub(b.rests))
	}
	if b.con.quiet || b.total.Load() == 0 && b.done.Load() == 0 {
		return
	}
	if b.con.json {
		b.tell()
		return
	}
	elapsed := b.con.now().Sub(b.start)
	b.con.notef("%s: %s in %s (%s %s/s)", b.title, human.Count(b.done.Load(), strings.TrimSuffix(b.unit, "s"), b.unit),
		roundDuration(elapsed), rate(float64(b.done.Load())/elapsed.Seconds()), b.unit)
}

func (b *bar) drawNow() {
	width := 80
	if b.con.screen != nil {
		width = b.con.screen.Width()
	}
	b.con.draw([]string{b.line(width, b.con.now().Sub(b.start))})
}

// line is the bar for a terminal: title, bar, percent, count, rate and the
// time that is left.
func (b *bar) line(width int, elapsed time.Duration) string {
	done, total := b.done.Load(), b.total.Load()
	perSecond, left := b.pace(elapsed)
	tail := fmt.Sprintf("%d/%d, %s %s/s", done, total, rate(perSecond), b.unit)
	if total <= 0 {
		return fmt.Sprintf("%s  %d %s, %s/s", b.title, done, b.unit, rate(perSecond))
	}
	if left > 0 {
		tail += ", " + roundDuration(left) + " left"
	}
	b.pb.SetTotal(total)
	return timeBarLine(b.pb, b.title, tail, done, width)
}

// pace is the mean rate so far and the time that the rest takes with it.
func (b *bar) pace(elapsed time.Duration) (perSecond float64, left time.Duration) {
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

// tell writes the progress as a line of its own.
func (b *bar) tell() {
	elapsed := b.con.now().Sub(b.start)
	perSecond, left := b.pace(elapsed)
	if b.con.json {
		b.con.sayFigures(jsonLine(struct {
			Elapsed float64 `json:"elapsed_s"`
			Phase   string  `json:"phase"`
			Done    int64   `json:"done"`
			Total   int64   `json:"total,omitempty"` // where it is known
			Rate    float64 `json:"per_s"`
		}{round3(elapsed.Seconds()), b.title, b.done.Load(), b.total.Load(), round3(perSecond)}))
		return
	}
	count := fmt.Sprint(b.done.Load())
	if total := b.total.Load(); total > 0 {
		count += fmt.Sprintf(" of %d", total)
	}
	line := fmt.Sprintf("%s: %s, %s %s, %s/s", b.title, roundDuration(elapsed), count, b.unit, rate(perSecond))
	if left > 0 {
		line += ", " + roundDuration(left) + " left"
	}
	b.con.notef("%s", line)
}

// newTimeBar is a bar of cheggaaa/pb that renders when asked to and does not
// write by itself: one place draws, so that nothing is drawn over.
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

// A liveRun shows how a run goes.
type liveRun struct {
	con      *console
	snapshot func() aggregate.LiveSnapshot
	start    time.Time
	length   time.Duration // 0 = the end is not known
	pb       *pb.ProgressBar
	stop     func()
}

// startLive shows the snapshots of a run of the given length until finish is
// called: in place four times a second on a terminal, else as lines.
func (c *console) startLive(snapshot func() aggregate.LiveSnapshot, length, interval time.Duration) *liveRun {
	l := &liveRun{con: c, snapshot: snapshot, start: c.now(), length: length, pb: newTimeBar(int64(length))}
	switch {
	case c.quiet:
		l.stop = func() {}
	case c.screen != nil:
		l.drawNow()
		l.stop = every(c.refresh, l.drawNow)
	default:
		l.stop = every(interval, l.tell)
	}
	return l
}

// finish takes the view away; the report follows.
func (l *liveRun) finish() {
	l.stop()
	l.con.restore()
}

func (l *liveRun) drawNow() {
	l.con.draw(l.lines(l.con.screen.Width(), l.con.now().Sub(l.start)))
}

// lines is the view: the time bar, then a line for each operation.
func (l *liveRun) lines(width int, elapsed time.Duration) []string {
	var head string
	if l.length > 0 {
		tail := roundDuration(elapsed) + " of " + human.Duration(l.length)
		if left := l.length - elapsed; left > 0 {
			tail += ", " + roundDuration(left) + " left"
		}
		head = timeBarLine(l.pb, "Running", tail, int64(elapsed), width)
	} else {
		head = "Running  " + roundDuration(elapsed)
	}
	lines := []string{head}
	for _, op := range l.snapshot().Ops {
		lines = append(lines, l.opLine(op, width))
	}
	return lines
}

// opLine is one operation's line, with what matters least at the end, because
// that is what a narrow terminal cuts off.
func (l *liveRun) opLine(op aggregate.LiveOp, width int) string {
	now, mean := op.Current, op.Average
	line := fmt.Sprintf("%-7s", op.Op)
	if op.Bytes > 0 {
		line += fmt.Sprintf(" %8.1f MiB/s (avg %8.1f)", now.Bytes/(1<<20), mean.Bytes/(1<<20))
	} else {
		line += fmt.Sprintf(" %8s obj/s (avg %8s)", rate(now.Objects), rate(mean.Objects))
	}
	line += fmt.Sprintf("  %6s req/s  p50 %6s  p99 %6s", rate(now.Requests), latency(op.P50), latency(op.P99))
	failed := fmt.Sprintf("  %d errors", op.Errors)
	if pb.CellCount(line+failed) > width {
		return line + failed // is cut, and loses its colors with that
	}
	line = terminal.Paint(l.con.errColor, color.Bold, line[:7]) + line[7:]
	return line + terminal.Paint(l.con.errColor && op.Errors > 0, color.FgRed, failed)
}

// tell writes a line per operation: what a log file of a run is read for.
func (l *liveRun) tell() {
	elapsed := l.con.now().Sub(l.start)
	for _, op := range l.snapshot().Ops {
		if l.con.json {
			l.con.sayFigures(statsJSON(op, elapsed))
		} else {
			l.con.notef("%s", statsText(op, elapsed))
		}
	}
}

// statsText is what a line of progress says about an operation.
func statsText(op aggregate.LiveOp, elapsed time.Duration) string {
	return fmt.Sprintf("%s %s: %d requests, %d errors, %.1f MiB/s, %s obj/s, p50 %s, p99 %s",
		elapsed.Round(time.Second), op.Op, op.Requests, op.Errors,
		op.Current.Bytes/(1<<20), rate(op.Current.Objects), latency(op.P50), latency(op.P99))
}

// statsJSON says the same to a program.
func statsJSON(op aggregate.LiveOp, elapsed time.Duration) string {
	return jsonLine(struct {
		Elapsed  float64 `json:"elapsed_s"`
		Op       string  `json:"op"`
		Requests uint64  `json:"requests"`
		Errors   uint64  `json:"errors"`
		MiB      float64 `json:"mib_per_s"`
		Objects  float64 `json:"objects_per_s"`
		P50      float64 `json:"p50_ms"`
		P99      float64 `json:"p99_ms"`
	}{round3(elapsed.Seconds()), op.Op, op.Requests, op.Errors,
		round3(op.Current.Bytes / (1 << 20)), round3(op.Current.Objects),
		round3(op.P50.Seconds() * 1000), round3(op.P99.Seconds() * 1000)})
}

// jsonLine is v as one line. Numbers that JSON cannot say have become 0 before.
func jsonLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}

func round3(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return math.Round(f*1000) / 1000
}

// rate writes a number per second with about four digits.
func rate(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "0"
	case f >= 100 || f == 0:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}

// latency writes three significant digits; "-" where nothing was measured.
func latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d >= time.Second:
		return threeDigits(d.Seconds()) + "s"
	case d >= time.Millisecond:
		return threeDigits(d.Seconds()*1e3) + "ms"
	default:
		return threeDigits(d.Seconds()*1e6) + "µs"
	}
}

func threeDigits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	default:
		return fmt.Sprintf("%.2f", f)
	}
}

// roundDuration is short: tenths below ten seconds, then whole seconds.
func roundDuration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return human.Duration(d.Round(time.Second))
}
