package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"warp/internal/pause"
	"warp/pkg/bench"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/oplog/merge"
)

// Collected is the result of Collect.
type Collected struct {
	merge.Stats
	Run       string
	Benchmark string
	Fetched   []string // ids of the clients whose logs it has
	Without   []string // clients without a log of the run, and why
}

// errNothingKept reports that no client has a log to collect.
var errNothingKept = errors.New("no client has a log that was not collected")

// A visit is the connection to one client whose log is collected.
type visit struct {
	member Member
	ch     *transport.Conn
	kept   []protocol.Saved
	err    error
	spool  *logcopy.Spool
}

// Collect fetches the logs of a run whose coordinator did not get them, and
// merges them into the file that path names for the benchmark. If run is empty,
// it collects the latest run of which any client has a log.
func (f *Fleet) Collect(ctx context.Context, run string, path func(benchmark string) string) (*Collected, error) {
	visits := f.visitAll(ctx)
	defer func() {
		for _, v := range visits {
			if v.ch != nil {
				v.ch.Close()
			}
		}
	}()
	c := &Collected{Run: run}
	var with []*visit
	for _, v := range visits {
		if c.Run == "" && len(v.kept) > 0 {
			c.Run = v.kept[len(v.kept)-1].Run
		}
	}
	for _, v := range visits {
		log, ok := v.log(c.Run)
		switch {
		case v.err != nil:
			c.Without = append(c.Without, (&Error{v.member.Addr, v.err}).Error())
		case !ok:
			c.Without = append(c.Without, fmt.Sprintf("client %s: it has no log of run %s", v.member.Addr, c.Run))
		default:
			c.Benchmark = log.Benchmark
			with = append(with, v)
		}
	}
	if len(with) == 0 {
		if c.Run != "" {
			return c, fmt.Errorf("%w: %s", errNothingKept, joinLines(c.Without))
		}
		for _, v := range visits {
			if v.err != nil {
				return c, &Error{v.member.Addr, v.err}
			}
		}
		return c, errNothingKept
	}
	if !protocol.IsName(c.Benchmark) {
		return c, fmt.Errorf("client %s: its log is from %.64q, which is not a benchmark", with[0].member.Addr, c.Benchmark)
	}
	return c, f.fetchAll(ctx, c, with, path(c.Benchmark))
}

func joinLines(lines []string) string {
	if len(lines) > 3 {
		lines = append(lines[:3:3], fmt.Sprintf("and %d more", len(lines)-3))
	}
	return strings.Join(lines, "; ")
}

func (f *Fleet) visitAll(ctx context.Context) []*visit {
	visits := make([]*visit, len(f.options.Members))
	var all sync.WaitGroup
	for i, m := range f.options.Members {
		visits[i] = &visit{member: m}
		all.Go(func() { visits[i].ch, visits[i].kept, visits[i].err = f.visit(ctx, m) })
	}
	all.Wait()
	return visits
}

// busyNotice is how long a client may remain busy after its coordinator was
// killed: until it notices.
const busyNotice = 2 * time.Second

// visit asks a client for its logs, repeatedly until it has cleaned up.
func (f *Fleet) visit(ctx context.Context, m Member) (*transport.Conn, []protocol.Saved, error) {
	began, noted := time.Now(), false
	for {
		ch, err := f.dialer.Connect(ctx, m.Addr, m.Pin, f.options.ConnectTimeout)
		timeout := f.options.ConnectTimeout
		if err == nil {
			var answer *protocol.AttachReply
			answer, err = requestAttach(ch, protocol.AttachRequest{Purpose: protocol.ForCollect})
			if err == nil && answer.Refused == "" {
				go keepAlive(ch)
				return ch, answer.Kept, nil
			}
			ch.Close()
			if err == nil {
				err = errors.New(answer.Refused)
				timeout = f.options.BusyTimeout
				if !answer.Wait {
					timeout = min(timeout, busyNotice)
				} else if !noted {
					f.options.Logf("waiting for client %s: %s", m.Addr, answer.Refused)
					noted = true
				}
			}
		}
		if f.options.finalAtStart(err) || time.Since(began) > timeout || !pause.For(ctx, 500*time.Millisecond) {
			return nil, nil, err
		}
	}
}

// keepAlive keeps a connection alive while it waits for the others.
func keepAlive(ch *transport.Conn) {
	for ch.SendBytes(protocol.KindPing, protocol.Ping(0, false)) == nil {
		time.Sleep(time.Second)
	}
}

// next returns the next message that is not a pong.
func (v *visit) next() (transport.Kind, []byte, error) {
	for {
		k, body, err := v.ch.Receive()
		if err != nil || k != protocol.KindPong {
			return k, body, err
		}
	}
}

// fetchAll fetches and merges the logs, and only then lets the clients forget
// them.
func (f *Fleet) fetchAll(ctx context.Context, c *Collected, with []*visit, path string) error {
	var all sync.WaitGroup
	errs := make([]error, len(with))
	for i, v := range with {
		all.Go(func() {
			if err := v.fetch(ctx, f, c.Run); err != nil {
				errs[i] = &Error{v.member.Addr, err}
			}
		})
	}
	all.Wait()
	defer func() {
		for _, v := range with {
			if v.spool != nil {
				_ = v.spool.Remove() // the client has the original
			}
		}
	}()
	if err := bench.JoinErrors(errs); err != nil {
		return err
	}
	var inputs []string
	for _, v := range with {
		log, _ := v.log(c.Run)
		c.Fetched = append(c.Fetched, log.Client)
		inputs = append(inputs, v.spool.Path())
	}
	var notes []string
	for _, w := range c.Without {
		notes = append(notes, "a share is missing: "+w)
	}
	var err error
	if c.Stats, err = merge.Logs(ctx, path, inputs, merge.Options{Notes: notes}); err != nil {
		return err
	}
	for _, v := range with {
		all.Go(func() { v.forget(ctx, c.Run) })
	}
	all.Wait()
	return nil
}

// forget lets a client forget its log. If the message is lost, the log can be
// collected again.
func (v *visit) forget(ctx context.Context, run string) {
	defer v.ch.CloseOn(ctx)()
	if v.ch.Send(protocol.KindForget, protocol.Pull{Run: run}) == nil {
		_, _, _ = v.next()
	}
}

// log returns the client's log of the run.
func (v *visit) log(run string) (log protocol.Saved, ok bool) {
	at := slices.IndexFunc(v.kept, func(s protocol.Saved) bool { return s.Run == run })
	if at < 0 {
		return log, false
	}
	return v.kept[at], true
}

// fetch copies the log of the run from one client.
func (v *visit) fetch(ctx context.Context, f *Fleet, run string) error {
	want, _ := v.log(run)
	if !protocol.IsName(want.Client) {
		return fmt.Errorf("it calls itself %.64q", want.Client)
	}
	var err error
	if v.spool, err = logcopy.NewSpool(f.options.Spool(want.Client)); err != nil {
		return err
	}
	defer v.ch.CloseOn(ctx)()
	if err := v.ch.Send(protocol.KindPull, protocol.Pull{Run: run}); err != nil {
		return err
	}
	for v.spool.Size() < want.Bytes {
		k, body, err := v.next()
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("the connection broke after %d of %d bytes of its log: %w", v.spool.Size(), want.Bytes, err)
		}
		if k != protocol.KindChunk {
			return fmt.Errorf("a message of kind %d came instead of a chunk of the log", k)
		}
		chunk, err := logcopy.ReadChunk(body)
		if err == nil {
			err = v.spool.Add(chunk)
		}
		if err == nil {
			err = v.ch.SendBytes(protocol.KindAck, v.spool.Ack())
		}
		if err != nil {
			return err
		}
	}
	return v.spool.Check(want.Bytes, want.SHA256)
}
