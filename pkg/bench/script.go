package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"warp/internal/human"
	"warp/pkg/bench/recording"
	"warp/pkg/generator"
	"warp/pkg/lease"
	"warp/pkg/oplog"
	"warp/pkg/store"
)

// How many requests a statement sends at a time if the script does not limit it.
const (
	// maxUnpaced is for statements without a rate: more requests at a time would
	// only wait longer.
	maxUnpaced = 1000
	// maxPaced is for statements with a rate, which use as many as the rate needs.
	// A store that needs more than this has stopped answering.
	maxPaced = 10_000
)

// A ScriptStep is one statement of a script.
type ScriptStep struct {
	Op      string // PUT, GET, DELETE; "" only adds objects of an earlier script
	Line    int    // of the script, for messages
	Column  int
	Context string        // names the set of its objects
	Objects int           // 0 = not given
	Runtime time.Duration // begins when the warm-up ends
	Rate    float64       // requests/s; 0 = as fast as possible
	Warmup  time.Duration
	Max     int    // requests at a time; 0 = as many as needed
	Seed    string // of names
	Random  bool   // names begin at random
	Size    int64
}

// A ScriptWatcher receives the progress of a script. Every record that the sinks
// receive between Begin and End of a statement belongs to that statement.
type ScriptWatcher interface {
	Begin(number int, peak *Peak)
	End(number int)
}

// A Script runs statements one after the other, over the same objects. Objects
// stay in the bucket until a statement deletes them.
type Script struct {
	Client  *store.Client
	Options Options // names, lease and clean-up are not used
	Steps   []ScriptStep
	Watcher ScriptWatcher

	tracer
	marking
	env      *Env
	payload  *generator.Payload
	records  *recording.Collector
	workers  []*Worker
	contexts map[string]*scriptObjects
	unclear  []*generator.Names // of uploads that may or may not have succeeded
	paced    int                // requests at a time of a statement with a rate alone; 0 = maxPaced
	notes    []string
}

// maxStatements is how many statements the op log can distinguish.
const maxStatements = math.MaxUint16

// CheckScript checks the statements of a script.
func CheckScript(steps []ScriptStep) error {
	ever, filled := make(map[string]bool), make(map[string]bool)
	for i := range steps {
		s := &steps[i]
		var err error
		switch {
		case s.Op == "PUT" || s.Op == "":
			ever[s.Context], filled[s.Context] = true, true
		case !ever[s.Context]:
			err = fmt.Errorf("no statement before it puts or reuses objects in context %q", s.Context)
		case s.Op == "GET" && !filled[s.Context]:
			err = fmt.Errorf("the DELETE before it leaves nothing in context %q", s.Context)
		case s.Op == "DELETE" && s.Objects == 0 && s.Runtime == 0:
			filled[s.Context] = false
		}
		switch {
		case err != nil:
		case i >= maxStatements:
			err = fmt.Errorf("a script has at most %d statements", maxStatements)
		case s.Max > MaxThreads:
			err = fmt.Errorf("MAX %d CONCURRENT is more than %d", s.Max, MaxThreads)
		case s.Objects > 0 && s.Warmup.Seconds()*s.Rate/2 >= float64(s.Objects) && s.Runtime == 0:
			err = fmt.Errorf("all %d requests fall into the WARMUP of %s, which leaves nothing to measure", s.Objects, s.Warmup)
		}
		if err != nil {
			return fmt.Errorf("line %d, column %d: %s: %w", s.Line, s.Column, opOrReuse(s.Op), err)
		}
	}
	return nil
}

func opOrReuse(op string) string {
	if op == "" {
		return "REUSE"
	}
	return op
}

// scriptPrefix begins all names of scripts.
const scriptPrefix = "warp-script-"

// scriptNames names the objects of a seed. No other benchmark makes these names.
func scriptNames(seed string, random bool) *generator.Names {
	sum := sha256.Sum256([]byte(seed))
	number := binary.BigEndian.Uint64(sum[:])
	prefix := scriptPrefix
	if !random {
		prefix += strings.TrimPrefix(generator.RunPrefix(number), "warp-")
	}
	return generator.NewNames(prefix, number, generator.Layout{NoPrefix: true, Random: random})
}

// Open creates the bucket if it does not exist.
func (s *Script) Open(ctx context.Context) error {
	if err := tryHosts(ctx, s.Client, &s.Options, noProgress{}); err != nil {
		return err
	}
	_, err := lease.CreateBucket(ctx, s.Client, s.Options.Bucket, false)
	return err
}

// Run executes the statements. It ends early if one cannot be executed or ctx
// ends.
func (s *Script) Run(ctx context.Context, sinks ...recording.Sink) *Outcome {
	whole := newRun(ctx, &s.Options, s.Client, s.trace(&s.Options), nil)
	defer whole.cancel()
	whole.record(sinks)
	s.records = whole.records
	s.marking.window.Store(whole.window)
	s.env = &Env{Client: s.Client, Bucket: s.Options.Bucket, Seed: s.Options.Seed}
	s.contexts = make(map[string]*scriptObjects)
	var err error
	s.payload, err = generator.NewPayload(s.Options.Payload)
	whole.unbounded = slices.ContainsFunc(s.Steps, func(step ScriptStep) bool { return step.Op != "" && step.Max == 0 })
	whole.meter.Start()
	for i := range s.Steps {
		if err != nil || whole.stopped() {
			break
		}
		err = s.step(whole, i)
	}
	whole.load = whole.meter.Stop()
	s.abortUploads(whole)
	out := whole.outcome(err)
	out.Trailer.Notes = append(out.Trailer.Notes, s.notes...)
	return out
}

// step executes one statement.
func (s *Script) step(whole *run, i int) error {
	step := &s.Steps[i]
	t, err := s.statement(step, i+1)
	if err != nil {
		return err
	}
	if s.Watcher != nil {
		s.Watcher.Begin(i+1, &t.peak)
		defer s.Watcher.End(i + 1)
	}
	if step.Op == "" {
		return nil
	}
	part := whole.part()
	err = part.cause(nil, t.execute(part))
	whole.join(part)
	s.records.Sync() // End comes after every record
	if t.unclear.Load() {
		s.unclear = append(s.unclear, t.names)
	}
	s.note(t)
	if err != nil && !whole.stopped() {
		whole.abort(err)
	}
	return err
}

func (s *Script) maxPaced() int { return cmp.Or(s.paced, maxPaced) }

// note adds notes about a statement to the log.
func (s *Script) note(t *scriptRun) {
	if t.missed > 0 {
		s.notes = append(s.notes, fmt.Sprintf("statement %d: %s of its rate %s due and not sent when it ended", t.number, human.Plural(t.missed, "request"), human.Choose(t.missed, "was", "were")))
	}
	if t.step.Rate > 0 && t.step.Max == 0 && t.started >= s.maxPaced() {
		s.notes = append(s.notes, fmt.Sprintf("statement %d: its rate needs more than %d requests at a time, which is the maximum", t.number, s.maxPaced()))
	}
}

// abortUploads aborts uploads in parts that were cut off. No statement could delete
// them.
func (s *Script) abortUploads(whole *run) {
	if len(s.unclear) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(whole.requests), abortTimeout)
	defer cancel()
	// The whole bucket is listed, since MinIO takes a prefix for a complete name.
	err := s.Client.AbortUploads(ctx, s.Options.Bucket, "", func(key string) bool {
		for _, names := range s.unclear {
			if names.Owns(key) {
				return true
			}
		}
		return false
	})
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("uploads in parts that were cut off may be left in bucket %s: %v", s.Options.Bucket, err))
	}
}

// abortTimeout limits how long uploads are aborted, since a person may be waiting.
const abortTimeout = 30 * time.Second

// worker returns worker i, which may have worked on an earlier statement.
func (s *Script) worker(i int) *Worker {
	for len(s.workers) <= i {
		id := len(s.workers)
		w := s.Options.newWorker(id, 0, s.env, s.payload, s.records.NewQueue(id))
		w.Rand = generator.Rand(s.Options.Seed, "worker", s.Options.stream(id))
		s.workers = append(s.workers, w)
	}
	return s.workers[i]
}

// A Peak is the maximum number of requests at a time.
type Peak struct {
	now    atomic.Int64
	warmup atomic.Int64
	rest   atomic.Int64
}

func (p *Peak) begin(warmup bool) {
	n := p.now.Add(1)
	p.raise(warmup, n)
}

func (p *Peak) raise(warmup bool, n int64) {
	peak := &p.rest
	if warmup {
		peak = &p.warmup
	}
	for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
	}
}

func (p *Peak) end() { p.now.Add(-1) }

// Reset returns the maximum since the previous call, in the warm-up and after it.
// Requests in flight now count for the next call as well.
func (p *Peak) Reset(warming bool) (warmup, rest int) {
	warmup, rest = int(p.warmup.Swap(0)), int(p.rest.Swap(0))
	p.raise(warming, p.now.Load())
	return warmup, rest
}

// statementOf marks the records of a statement.
func statementOf(number int, warmup bool) oplog.Statement {
	return oplog.Statement{Number: uint16(number), WarmUp: warmup}
}
