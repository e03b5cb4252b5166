package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/fleet/protocol"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
	"warp/pkg/sink"
)

// A task is a benchmark as an agent runs it.
type task struct {
	job    *job
	spec   *protocol.Job
	runner *bench.Runner
	ctx    context.Context // of Open; after its end clean-up continues only while it makes progress
	live   monitor.Live
	counts clientSummary
	path   string
	out    *bench.Outcome

	mu      sync.Mutex
	log     *oplog.File
	marks   []oplog.Mark  // in the log
	exports *sink.Exports // other receivers of figures
}

func newTask(j *job, spec *protocol.Job) (*task, error) {
	like := j.agent.options.Operation(spec.Options.Benchmark)
	if like == nil {
		return nil, fmt.Errorf("there is no benchmark %q in this build", spec.Options.Benchmark)
	}
	op, err := bench.DecodeOp(like, spec.Op)
	if err != nil {
		return nil, fmt.Errorf("the parameters of %s: %w", spec.Options.Benchmark, err)
	}
	client, err := connect(&spec.Store, &j.agent.options)
	if err != nil {
		return nil, err
	}
	if p, ok := op.(interface{ ShareAmong(client, clients int) }); ok {
		p.ShareAmong(spec.Options.Client, spec.Options.Clients)
	}
	o := spec.Options
	o.Warp = j.agent.options.Warp
	o.Redact = j.agent.options.redact(spec)
	o.Promise(client.Contract())
	t := &task{job: j, spec: spec, ctx: context.Background()}
	t.runner = &bench.Runner{Client: client, Op: op, Options: o, Progress: j, UnixNano: j.clock.UnixNano}
	name := oplog.DefaultName("client-"+o.Benchmark, time.Now(), o.ClientID)
	t.path = filepath.Join(j.agent.options.Folder, name)
	t.counts = clientSummary{summary: aggregate.NewSummary(spec.Analysis), ahead: spec.Header.ClockOffset}
	t.runner.Window = jobWindow{j}
	return t, nil
}

func (t *task) open(ctx context.Context) error {
	t.ctx = ctx
	if err := t.runner.Open(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	exports, err := t.spec.Exports.Open(ctx, t.spec.Options.ClientID, t.job.Warn)
	t.mu.Lock()
	t.exports = exports
	t.mu.Unlock()
	if err != nil || t.spec.NoLog {
		return err
	}
	h, own := t.runner.Options.Header(t.engine(), time.Unix(0, t.job.clock.Now())), &t.spec.Header
	h.Address, h.Command, h.Parameters, h.ClockOffset, h.Threads = t.spec.Name, own.Command, own.Parameters, own.ClockOffset, own.Threads
	h.ClockError, h.Workload = own.ClockError, own.Workload
	log, err := oplog.Create(t.path, h)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log = log
	return err
}

func (t *task) run(ctx context.Context, gate func(context.Context) (time.Time, error)) (*bench.Outcome, error) {
	t.runner.Gate = gate
	sinks := []recording.Sink{&t.live, &t.counts}
	if t.log != nil {
		sinks = append(sinks, t.log)
	}
	for _, e := range t.exports.All {
		sinks = append(sinks, e)
	}
	t.out = t.runner.Run(ctx, sinks...)
	for _, lost := range t.exports.Close() {
		t.out.Trailer.Notes = append(t.out.Trailer.Notes, "client "+t.spec.Name+": "+lost)
	}
	trailer, redact := &t.out.Trailer, t.runner.Options.Redact
	trailer.Reason = redact(trailer.Reason)
	for i, note := range trailer.Notes {
		trailer.Notes[i] = redact(note)
	}
	if fatal := t.out.Fatal; fatal != nil && !errors.Is(fatal, errStopped) && !errors.Is(fatal, bench.ErrInterrupted) {
		return t.out, fatal
	}
	return t.out, nil
}

func (t *task) completeLog(o *protocol.DesiredState) (string, error) {
	s, _ := t.job.state()
	measured := t.out != nil && s.Began != 0
	switch {
	case t.log == nil:
		return "", nil
	case !measured:
		return "", t.log.Discard()
	}
	if err := t.completeMarks(o.Marks); err != nil {
		return "", err
	}
	trailer := t.out.Trailer
	trailer.Notes = append(trailer.Notes, o.Notes...)
	return t.log.Commit(trailer)
}

// summary encodes the counts of a finished run.
func (t *task) summary() ([]byte, error) {
	if s, _ := t.job.state(); t.out == nil || t.out.Sent == 0 || s.Began == 0 {
		return nil, nil
	}
	return t.counts.encode()
}

// soFar encodes the counts so far.
func (t *task) soFar() ([]byte, error) {
	if !t.spec.Follow {
		return nil, nil
	}
	return t.counts.encode()
}

func (t *task) cleanUp() error {
	t.exports.Close() // if there was no run
	return t.runner.Cleanup(t.ctx)
}

// handOver leaves what the run wrote to the coordinator.
func (t *task) handOver() {
	t.exports.Close()
	t.runner.HandOver(t.ctx)
}

func (t *task) logName() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.log == nil {
		return ""
	}
	return t.log.Name()
}

// metrics returns the deflated metrics, or nil if not requested.
func (t *task) metrics() ([]byte, error) {
	t.mu.Lock()
	exports := t.exports
	t.mu.Unlock()
	if exports == nil || exports.Metrics == nil {
		return nil, nil
	}
	return exports.Metrics.Counts().Append(nil)
}

func (t *task) engine() string { return t.runner.Client.EngineName() }

// addMark records a mark of the coordinator. Marks after the end of the run are
// added when the log is completed.
func (t *task) addMark(m oplog.Mark) {
	if t.runner.AddMark(m) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks = append(t.marks, m)
}

// completeMarks adds the marks that came too late for the run.
func (t *task) completeMarks(all []oplog.Mark) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range all {
		if slices.Contains(t.marks, m) {
			continue
		}
		if err := t.log.AddMark(m); err != nil {
			return err
		}
	}
	return nil
}
