package fleet

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/pkg/aggregate"
	"warp/pkg/bench"
	"warp/pkg/oplog"
)

// The figures of 200 clients are put together once a second, in much less than that.
func TestMeasuredMerge(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes most of the time")
	}
	var l aggregate.Live
	rows := make([]oplog.Record, 20000)
	for i := range rows {
		rows[i] = oplog.Record{Op: []string{"GET", "PUT", "STAT", "DELETE"}[i%4], Start: 1e18 + int64(i)*1e5, Duration: time.Duration(1e5 + i*i%1e9), Bytes: 1e6, Objects: 1}
	}
	_ = l.Write(rows)
	state := append(binary.BigEndian.AppendUint64(nil, uint64(1e18)), l.Append(nil)...)
	f := New(Options{Members: make([]Member, 200)})
	best := time.Hour
	for range 20 { // the best counts: the machine may be busy
		began := time.Now()
		for _, link := range f.links {
			d := &clientSession{link: link}
			must(t, d.handleLive(state))
		}
		if n := len(f.Snapshot().Ops); n != 4 {
			t.Fatalf("%d operations", n)
		}
		best = min(best, time.Since(began))
	}
	t.Logf("%v for 200 clients of %d bytes", best, len(state))
	if best > 50*time.Millisecond {
		t.Errorf("to put the figures of 200 clients together takes %v", best)
	}
}

// 200 clients and their coordinator, all in this process. The clients do not
// make load, since it is the coordinator that is looked at.
func TestMeasuredScale(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("200 clients take their time")
	}
	var ms []*machine
	var one sync.Mutex // making a log takes memory that is not the coordinator's
	for range 200 {
		ms = append(ms, startMachine(t, func(o *AgentOptions) {
			o.Logf = nil
			folder := o.Folder
			o.NewTask = func(j *job, spec *Job) (Task, error) {
				one.Lock()
				defer one.Unlock()
				return newIdleTask(j, spec, folder)
			}
		}))
	}
	f := lead(t, func(o *Options) { o.Logf = nil }, ms...)
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	ctx := t.Context()
	measured(t, f, getPlan(t, "127.0.0.1:1", 3*time.Second))
	stats, _, err := f.Merge(ctx, path)
	must(t, err)
	r := f.Result()
	must(t, f.Clean(ctx))
	t.Logf("%d rows of %d clients, began within %v; %d MiB resident at most, all clients included", stats.Rows, stats.Clients, r.Spread, peak()>>20)
	if len(r.Lost) > 0 || stats.Clients != 200 || stats.Rows != 200*idleRows || peak() > 300<<20 {
		t.Errorf("%+v %+v", r, stats)
	}
}

// An idleTask has a log and figures as a real one has, and makes no request.
type idleTask struct {
	job  *job
	path string
	live aggregate.Live
}

const idleRows = 5000

func newIdleTask(j *job, spec *Job, folder string) (*idleTask, error) {
	t := &idleTask{job: j}
	path := filepath.Join(folder, spec.Options.ClientID)
	log, err := oplog.Create(path, oplog.Header{Warp: "test", Run: spec.Options.RunID, Client: spec.Options.ClientID, Benchmark: "get", ClockOffset: spec.Header.ClockOffset})
	if err != nil {
		return nil, err
	}
	now := time.Now().UnixNano()
	rows := make([]oplog.Record, idleRows)
	for i := range rows {
		rows[i] = oplog.Record{Op: "GET", Client: spec.Options.ClientID, Start: now + int64(i)*1e6, Duration: time.Duration(1e6 + i*i%1e9), Bytes: 1e6, Objects: 1}
	}
	_ = t.live.Write(rows)
	if err := log.Write(rows); err != nil {
		return nil, err
	}
	t.path, err = log.Commit(oplog.Trailer{End: "completed"})
	return t, err
}

func (t *idleTask) Open(context.Context) error { return nil }

func (t *idleTask) Run(ctx context.Context, gate func(context.Context) (time.Time, error)) (*bench.Outcome, error) {
	start, err := gate(ctx)
	if err != nil {
		return nil, err
	}
	pause(ctx, time.Until(start))
	t.job.Measuring()
	pause(ctx, t.job.spec.Options.Duration)
	return &bench.Outcome{Sent: idleRows}, nil
}

func (t *idleTask) Finish(string)                                  {}
func (t *idleTask) Trace(bool)                                     {}
func (t *idleTask) Store(*desiredState) (string, error)            { return t.path, nil }
func (t *idleTask) SetBegin(time.Time) error                       { return nil }
func (t *idleTask) SetEnd(time.Time) error                         { return nil }
func (t *idleTask) AddMark(oplog.Mark)                             {}
func (t *idleTask) SoFar() ([]byte, error)                         { return nil, nil }
func (t *idleTask) Summary() ([]byte, error)                       { return nil, nil }
func (t *idleTask) Metrics() ([]byte, error)                       { return nil, nil }
func (t *idleTask) Cleanup() error                                 { return nil }
func (t *idleTask) CleanUpOrphans(context.Context, []string) error { return nil }
func (t *idleTask) Log() string                                    { return t.path }
func (t *idleTask) Live() []byte                                   { return t.live.Append(nil) }
func (t *idleTask) Engine() string                                 { return "none" }
func (t *idleTask) Close()                                         {}

// peak is the most memory that the process had; 0 where that is not known.
func peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n << 10
}
