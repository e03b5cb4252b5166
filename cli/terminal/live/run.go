package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/fatih/color"

	"warp/cli/terminal"
	"warp/internal/columns"
	"warp/internal/human"
	"warp/pkg/monitor"
	"warp/pkg/report/figures"
	"warp/pkg/results"
)

// Actions are the effects of keys on a run.
type Actions struct {
	Stop func()                  // ends it; it is reported
	Mark func(text string) error // notes what was done to the store; nil = there are no marks
}

// A RunView shows the progress of a run.
type RunView struct {
	view     *View
	snapshot func() monitor.Snapshot
	start    time.Time
	length   time.Duration // 0 = the end is not known
	pb       *pb.ProgressBar
	stop     func()

	mu      sync.Mutex // keys come while it is drawn
	history history
	keys    keyboard
	over    bool
}

// Run shows the snapshots of a run of the given length until Finish is
// called. A length of 0 means that it is not known.
func (v *View) Run(snapshot func() monitor.Snapshot, length time.Duration, actions Actions) *RunView {
	r := &RunView{view: v, snapshot: snapshot, start: v.Now(), length: length, pb: newTimeBar(int64(length))}
	r.keys = keyboard{actions: actions, note: v.Note}
	release := func() {}
	if v.inPlace() {
		if stop := v.Keys(r.press); stop != nil {
			r.keys.there, release = true, stop
		}
	}
	stop := v.show(r.draw, r.printLines)
	r.stop = func() { stop(); release() }
	return r
}

// Finish removes the view.
func (r *RunView) Finish() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true // a key may be on its way
	r.view.Clear()
}

func (r *RunView) press(key rune) {
	r.mu.Lock()
	act := r.keys.press(key)
	r.mu.Unlock()
	if act != nil {
		act()
	}
	r.draw()
}

func (r *RunView) draw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	width, height := r.view.Size()
	if width > 0 && !r.over {
		r.view.Draw(r.lines(width, height, r.view.Now().Sub(r.start)))
	}
}

// lines returns the view: the time bar, a line for each operation, the last minute,
// and the slowest of several clients and hosts.
func (r *RunView) lines(width, height int, elapsed time.Duration) []string {
	snap := r.snapshot()
	snap.Ops = slices.Clone(snap.Ops) // they are others' too
	slices.SortStableFunc(snap.Ops, func(a, b monitor.Op) int { return cmp.Compare(b.Requests, a.Requests) })
	r.history.add(&snap)
	lines := append([]string{r.head(width, elapsed)}, r.operations(&snap, width)...)
	if line := r.lastMinute(&snap, width); line != "" {
		lines = append(lines, line)
	}
	if d := r.history.silence(snap.At); len(snap.Ops) > 0 && d >= 2*time.Second {
		lines = append(lines, terminal.Paint(r.view.Color, color.FgYellow, "no request has ended for "+human.Brief(d)))
	}
	clients := r.parts("client", r.history.slowest(snap.At, snap.Clients, clientsOf), snap.Ops, width)
	hosts := r.parts("host", r.history.slowest(snap.At, snap.Hosts, hostsOf), snap.Ops, width)
	hints := r.keys.lines(width)
	room := height - len(lines) - len(hints)
	clients = clients[:min(len(clients), max(room/2, room-len(hosts), 0))]
	hosts = hosts[:min(len(hosts), max(room-len(clients), 0))]
	for _, part := range [][]string{clients, hosts} {
		if len(part) > 2 { // the first two are its titles
			lines = append(lines, part...)
		}
	}
	return append(lines, hints...)
}

func (r *RunView) head(width int, elapsed time.Duration) string {
	if r.length == 0 {
		return "Running  " + human.Brief(elapsed)
	}
	tail := human.Brief(elapsed) + " of " + human.Duration(r.length)
	if left := r.length - elapsed; left > 0 {
		tail += ", " + human.Brief(left) + " left"
	}
	return timeBarLine(r.pb, "Running", tail, int64(elapsed), width)
}

// operations has them in the order of the report.
func (r *RunView) operations(snap *monitor.Snapshot, width int) []string {
	rows := rowsOf(snap.Ops)
	if len(rows) == 0 {
		return nil
	}
	unit := figures.Unit(rows)
	table := grouped("now", figures.Columns("", rows, unit, figures.Bytes, figures.Objects))
	whole := grouped("whole run", figures.Columns("", rows, unit, figures.Errors, figures.P50, figures.P99, figures.MeanBytes, figures.Requests))
	return columns.Fit(append(table, whole[1:]...), width, r.paint)
}

// grouped writes a name over all columns but the first.
func grouped(name string, table []columns.Column) []columns.Column {
	for i := range table[1:] {
		table[1+i].Group = name
	}
	return table
}

func rowsOf(ops []monitor.Op) (rows []figures.Row) {
	for i := range ops {
		op := &ops[i]
		row := figures.Row{Name: op.Op, Requests: op.Requests, Errors: op.Errors, HasBytes: op.Bytes > 0,
			BytesPerS: op.Current.Bytes, ObjectsPerS: op.Current.Objects, MeanBytesPerS: op.Average.Bytes}
		if op.P99 > 0 {
			row.Latency = &results.Stats{P50: op.P50.Seconds() * 1e3, P99: op.P99.Seconds() * 1e3}
		}
		rows = append(rows, row)
	}
	return rows
}

// paint makes errors red.
func (r *RunView) paint(_ int, title, cell string) string {
	errors := title == "errors" && strings.TrimSpace(cell) != "0"
	return terminal.Paint(r.view.Color && errors, color.FgRed, cell)
}

// lastMinute draws the throughput of the first operation that moves payload, or
// of the first where none does.
func (r *RunView) lastMinute(snap *monitor.Snapshot, width int) string {
	if len(snap.Ops) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(snap.Ops, func(op monitor.Op) bool { return op.Bytes > 0 }))
	rates := r.history.rates(&snap.Ops[i])
	if len(rates) < 2 {
		return ""
	}
	line := "last minute  " + snap.Ops[i].Op + " "
	if width >= 90 {
		highest := slices.Max(rates)
		top := human.PerSecond(highest) + " obj/s"
		if snap.Ops[i].Bytes > 0 {
			unit := human.SegmentUnit(highest)
			top = unit.Digits(highest) + " " + unit.Name()
		}
		line += "max " + top + " "
	}
	return line + human.Sparkline(rates, width-len(line))
}

const (
	manyParts = 8
	shownOf   = 3 // the slowest, if there are more
)

// parts returns the table of clients or hosts, if there are several.
func (r *RunView) parts(noun string, parts []recent, ops []monitor.Op, width int) []string {
	if len(parts) < 2 {
		return nil
	}
	title := noun + "s, slowest first"
	if len(parts) > manyParts {
		title = fmt.Sprintf("slowest of %d %ss", len(parts), noun)
		parts = parts[:shownOf]
	}
	var rows []figures.Row
	for i := range parts {
		p := &parts[i]
		row := figures.Row{Name: human.Host(p.Name), Requests: p.Requests, Errors: p.Errors, HasBytes: p.Bytes > 0, BytesPerS: p.bytes, ObjectsPerS: p.objects}
		if p.mean > 0 {
			row.Latency = &results.Stats{Mean: p.mean.Seconds() * 1e3}
		}
		rows = append(rows, row)
	}
	unit := figures.Unit(rowsOf(ops))
	mean := figures.Column(figures.Mean, rows, unit)
	mean.Drop = 0 // it is their order
	for i, cell := range mean.Cells {
		if cell == figures.None {
			mean.Cells[i] = "no answer"
		}
	}
	table := figures.Columns(title, rows, unit, figures.Errors, figures.Bytes, figures.Objects)
	for i := range table[2:] {
		table[2+i].Drop++ // rates matter less than the names here
	}
	table = append(table, mean)
	grouped(fmt.Sprintf("last %d s", lately), table[1:]) // errors are of the whole run
	return columns.Fit(table, width, r.paint)
}

// printLines writes a line per operation, for log files.
func (r *RunView) printLines() {
	elapsed := r.view.Now().Sub(r.start)
	for _, op := range r.snapshot().Ops {
		if r.view.JSON {
			r.view.Figures(NewLine(op, elapsed))
		} else {
			r.view.Note(NewLine(op, elapsed).String())
		}
	}
}
