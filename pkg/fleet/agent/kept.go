package agent

import (
	"context"
	"fmt"
	"os"
	"slices"

	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/logcopy"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
)

// A keptLog is a log that no coordinator has fetched.
type keptLog struct {
	protocol.Saved
	path string
}

// maxKept limits how many logs an agent remembers. The files remain.
const maxKept = 16

// keepLog remembers the log of a finished job, unless the coordinator has it or
// does not want it. The caller holds the agent's lock.
func (a *Agent) keepLog(j *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.feed == nil {
		return
	}
	name, complete := j.feed.State()
	switch {
	case !complete:
		return
	case !j.spec.KeepsLog():
		_ = os.Remove(name) // without a log the figures are useless
		return
	case j.desired.LogReceived:
		return
	}
	o := &j.spec.Options
	a.kept = append(a.kept, keptLog{
		Saved: protocol.Saved{Run: o.RunID, Client: o.ClientID, Benchmark: o.Benchmark, Bytes: j.status.Bytes, SHA256: j.status.SHA256},
		path:  name,
	})
	if len(a.kept) > maxKept {
		a.kept = slices.Delete(a.kept, 0, 1)
	}
}

// serveKeptLogs sends the kept logs to a coordinator that collects them.
func (a *Agent) serveKeptLogs(ctx context.Context, ch *transport.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var p *logcopy.Pump
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		switch k {
		case protocol.KindPing:
			_, err = pong(ch, body, clock.New(0))
		case protocol.KindPull:
			p, err = a.pumpKept(ctx, ch, body)
		case protocol.KindAck:
			err = p.Ack(body)
		case protocol.KindForget:
			if err = a.forget(body); err == nil {
				err = ch.SendBytes(protocol.KindForget, nil) // done
			}
		default:
			err = fmt.Errorf("a message of kind %d came while logs are collected", k)
		}
		if err != nil {
			return err
		}
	}
}

func (a *Agent) pumpKept(ctx context.Context, ch *transport.Conn, body []byte) (*logcopy.Pump, error) {
	var want protocol.Pull
	if err := protocol.Decode(body, &want); err != nil {
		return nil, err
	}
	a.mu.Lock()
	at := slices.IndexFunc(a.kept, func(k keptLog) bool { return k.Run == want.Run })
	if at < 0 || want.Offset < 0 {
		a.mu.Unlock()
		return nil, fmt.Errorf("there is no log of run %.64s", want.Run)
	}
	path := a.kept[at].path
	a.mu.Unlock()
	return startPump(ctx, ch, logcopy.Complete(path), want.Offset, nil), nil
}

// forget drops a fetched log.
func (a *Agent) forget(body []byte) error {
	var what protocol.Pull
	if err := protocol.Decode(body, &what); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = slices.DeleteFunc(a.kept, func(k keptLog) bool { return k.Run == what.Run })
	return nil
}
