package marks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/process"
	"warp/internal/human"
	"warp/internal/pause"
	"warp/pkg/oplog"
)

const (
	// planTimeout is how long a command of a planned mark may take.
	planTimeout = 10 * time.Minute
	// planGrace is how long such a command may take to end when the run is over.
	planGrace = 2 * time.Second
	// maxCommand bounds the length of such a command.
	maxCommand = 4096
)

// A plannedMark is a mark that is set at a time of the run, and what is done to
// the store then.
type plannedMark struct {
	At   string `json:"at"`
	Text string `json:"text"`
	Exec string `json:"exec,omitempty"`

	after time.Duration // since the measured part began
}

// Flags plan the marks of a run.
type Flags struct {
	texts []string
	all   []plannedMark
}

// Flag returns the flag --marks.
func (f *Flags) Flag() cli.Flag {
	return &flagtype.List{Name: "marks", Destination: &f.texts, Hidden: true,
		Usage: `plan a mark, and optionally a command that runs at that time, as in '{"at":"2m","text":"node 3 stopped","exec":"ssh node3 poweroff"}'; repeatable`}
}

// Parse reads the plan of a run with this duration; 0 = unlimited.
func (f *Flags) Parse(duration time.Duration) error {
	f.all = nil
	for _, text := range f.texts {
		m, err := parsePlannedMark(text)
		if err != nil {
			return exit.Usagef("--marks: %w", err)
		}
		if duration > 0 && m.after >= duration {
			return exit.Usagef("--marks: %q at %s comes after the end of the run, which is at --duration=%s", m.Text, m.At, human.Duration(duration))
		}
		f.all = append(f.all, *m)
	}
	if len(f.all) > oplog.MaxMarks {
		return exit.Usagef("--marks: there are %d marks, and a run has at most %d", len(f.all), oplog.MaxMarks)
	}
	return nil
}

func parsePlannedMark(text string) (*plannedMark, error) {
	m := &plannedMark{}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(m)
	if err == nil && d.More() {
		err = errors.New("there is more after it")
	}
	if errors.As(err, new(*json.UnmarshalTypeError)) {
		err = errors.New("it must be an object whose values are strings")
	}
	if err != nil {
		return nil, fmt.Errorf(`%.60q is not a mark (%w): write {"at":"2m","text":"what you do"}, and "exec" for a command`, text, err)
	}
	if m.Text, err = oplog.MarkText(m.Text); err != nil {
		return nil, err
	}
	m.after, err = time.ParseDuration(m.At)
	switch {
	case m.At == "":
		return nil, fmt.Errorf("%q has no time: write at: 2m", m.Text)
	case err != nil || m.after < 0:
		return nil, fmt.Errorf("%q: at is %q, but must be a time since the start, such as 30s or 2m", m.Text, m.At)
	case len(m.Exec) > maxCommand:
		return nil, fmt.Errorf("%q: the command has %d bytes, but at most %d are allowed: put it into a file", m.Text, len(m.Exec), maxCommand)
	}
	return m, nil
}

// A Plan sets planned marks while a run is measured.
type Plan struct {
	marker   *Marker
	cancel   context.CancelFunc
	commands sync.WaitGroup

	mu    sync.Mutex
	notes []string // for the report
}

// Start starts the plan at the beginning of the measured part.
func (f *Flags) Start(m *Marker) *Plan {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Plan{marker: m, cancel: cancel}
	for _, planned := range f.all {
		p.commands.Go(func() { p.follow(ctx, &planned) })
	}
	return p
}

// Stop ends the commands that still run, and waits for them.
func (p *Plan) Stop() {
	p.cancel()
	p.commands.Wait()
	slices.Sort(p.notes)
}

// Notes returns what weakens the run, for its report. It is complete after Stop.
func (p *Plan) Notes() []string {
	if p == nil {
		return nil
	}
	return p.notes
}

// follow sets the mark when its time has come, and runs its command.
func (p *Plan) follow(ctx context.Context, m *plannedMark) {
	if !pause.For(ctx, m.after) {
		p.warn("the mark %q was not set, since the run was over before %s", m.Text, m.At)
		return
	}
	_, err := p.marker.Mark(m.Text)
	for late := time.Now().Add(planGrace); errors.Is(err, errNotMeasured) && time.Now().Before(late) && pause.For(ctx, time.Millisecond); {
		_, err = p.marker.Mark(m.Text) // the first request is about to begin
	}
	if err != nil {
		p.warn("the mark %q was not set: %v", m.Text, err)
	}
	if m.Exec != "" {
		p.run(ctx, m)
	}
}

// warn adds a note to the report.
func (p *Plan) warn(format string, args ...any) {
	text := human.OneLine(fmt.Sprintf(format, args...))
	p.mu.Lock()
	p.notes = append(p.notes, text)
	p.mu.Unlock()
}

// run runs the command of a mark, and says what came of it.
func (p *Plan) run(ctx context.Context, m *plannedMark) {
	limited, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	said := &process.Tail{}
	began := time.Now()
	err := process.RunGroup(limited, m.Exec, said, planGrace)
	took := human.Millis(time.Since(began).Seconds() * 1e3)
	for line := range strings.Lines(said.Text()) {
		p.marker.out.Notef("%s: %s", m.Text, strings.TrimSpace(line))
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		p.marker.out.Notef("%s: the command ended after %s with exit code 0", m.Text, took)
	case ctx.Err() != nil:
		p.warn("the command of the mark %q was ended after %s, since the run was over%s", m.Text, took, said.Suffix())
	case limited.Err() != nil:
		p.warn("the command of the mark %q was ended, since it took longer than %s%s", m.Text, human.Duration(planTimeout), said.Suffix())
	case errors.As(err, &exit) && exit.Exited():
		p.warn("the command of the mark %q failed after %s with exit code %d%s", m.Text, took, exit.ExitCode(), said.Suffix())
	default:
		p.warn("the command of the mark %q failed after %s: %v%s", m.Text, took, err, said.Suffix())
	}
}
