package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/pause"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/monitor"
	"warp/pkg/oplog"
)

// The figures of 200 clients are put together once a second, in much less than that.
func TestMeasuredMerge(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector takes most of the time")
	}
	var l monitor.Live
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
			check.OK(t, d.handleLive(state))
		}
		if n := len(f.Snapshot().Ops); n != 4 {
			t.Fatalf("%d operations", n)
		}
		best = min(best, time.Since(began))
	}
	t.Logf("%v for 200 clients of %d bytes", best, len(state))
	if best > time.Second/2 {
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
		ms = append(ms, startIdleClient(t, &one))
	}
	f := lead(t, func(o *Options) { o.Logf = nil }, ms...)
	path := filepath.Join(t.TempDir(), "all.csv.zst")
	ctx := t.Context()
	measured(t, f, getPlan(t, "127.0.0.1:1", 3*time.Second))
	stats, _, err := f.Merge(ctx, path)
	check.OK(t, err)
	r := f.Result()
	check.OK(t, f.Clean(ctx))
	t.Logf("%d rows of %d clients, began within %v; %d MiB resident at most, all clients included", stats.Rows, stats.Clients, r.Spread, peak()>>20)
	if len(r.Lost) > 0 || stats.Clients != 200 || stats.Rows != 200*idleRows || peak() > 300<<20 {
		t.Errorf("%+v %+v", r, stats)
	}
}

const idleRows = 5000

// An idleClient speaks the protocol of a client. It has a log and figures as a
// real one has, and makes no request.
type idleClient struct {
	folder string
	one    *sync.Mutex
	ch     *transport.Conn

	mu     sync.Mutex
	status protocol.Status
	job    protocol.Job
	live   monitor.Live
	log    string
}

func startIdleClient(t *testing.T, one *sync.Mutex) *machine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	c := &idleClient{folder: t.TempDir(), one: one}
	server := &transport.Server{
		Identity: transport.Identity{Protocol: protocol.Version, Warp: "test", Token: testToken},
		Logf:     func(string, ...any) {}, Handle: c.serve,
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(ctx, l) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return &machine{addr: l.Addr().String(), folder: c.folder}
}

func (c *idleClient) serve(ctx context.Context, ch *transport.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.ch = ch
	ch.Allow(protocol.MaxJob)
	if _, _, err := ch.Receive(); err != nil {
		return err
	}
	if err := ch.Send(protocol.KindAttached, protocol.AttachReply{Host: "idle"}); err != nil {
		return err
	}
	go c.report(ctx)
	var p *logcopy.Pump
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		switch k {
		case protocol.KindPing:
			now := time.Now().UnixNano()
			err = ch.SendBytes(protocol.KindPong, protocol.Pong(body, now, now))
		case protocol.KindJob:
			err = c.assign(body)
		case protocol.KindDesired:
			err = c.apply(ctx, body)
		case protocol.KindPull:
			p = logcopy.NewPump(logcopy.Complete(c.log), 0, func(parts ...[]byte) error { return ch.SendBytes(protocol.KindChunk, parts...) }, nil)
			go func() { _ = p.Run(ctx) }()
		case protocol.KindAck:
			err = p.Ack(body)
		}
		if err != nil {
			return err
		}
	}
}

// report sends status and figures every second, as an agent does.
func (c *idleClient) report(ctx context.Context) {
	for pause.For(ctx, time.Second) {
		c.mu.Lock()
		status, live := c.status, c.live.Append(nil)
		c.mu.Unlock()
		if c.ch.Send(protocol.KindStatus, status) != nil {
			return
		}
		if at := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano())); status.Began != 0 && c.ch.SendBytes(protocol.KindLive, at, live) != nil {
			return
		}
	}
}

// assign makes the log of the job.
func (c *idleClient) assign(body []byte) error {
	c.one.Lock()
	defer c.one.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := protocol.Decode(body, &c.job); err != nil {
		return err
	}
	id := c.job.Options.ClientID
	log, err := oplog.Create(filepath.Join(c.folder, id), oplog.Header{Warp: "test", Run: c.job.Options.RunID, Client: id, Benchmark: "get", ClockOffset: c.job.Header.ClockOffset})
	if err != nil {
		return err
	}
	now := time.Now().UnixNano()
	rows := make([]oplog.Record, idleRows)
	for i := range rows {
		rows[i] = oplog.Record{Op: "GET", Client: id, Start: now + int64(i)*1e6, Duration: time.Duration(1e6 + i*i%1e9), Bytes: 1e6, Objects: 1}
	}
	_ = c.live.Write(rows)
	if err := log.Write(rows); err != nil {
		return err
	}
	if c.log, err = log.Commit(oplog.Trailer{End: "completed"}); err != nil {
		return err
	}
	text, err := os.ReadFile(c.log)
	sum := sha256.Sum256(text)
	c.status.Log, c.status.Bytes, c.status.SHA256 = true, int64(len(text)), sum[:]
	return err
}

// apply reaches the goal at once, but measuring takes its time.
func (c *idleClient) apply(ctx context.Context, body []byte) error {
	var desired protocol.DesiredState
	if err := protocol.Decode(body, &desired); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if desired.Goal != protocol.Measured {
		c.status.Phase = max(c.status.Phase, desired.Goal)
		return c.ch.Send(protocol.KindStatus, c.status)
	}
	if c.status.Began != 0 {
		return nil
	}
	c.status.Began = desired.Start
	go func() {
		pause.For(ctx, time.Until(time.Unix(0, desired.Start))+c.job.Options.Duration)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.status.Phase, c.status.Outcome = max(c.status.Phase, protocol.Measured), &protocol.Outcome{Sent: idleRows}
		_ = c.ch.Send(protocol.KindStatus, c.status)
	}()
	return nil
}

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
