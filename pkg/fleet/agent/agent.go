// Package agent runs the share of a benchmark that a coordinator sends to this
// machine.
//
// An [Agent] serves one coordinator at a time (agent.go). A job is its state of
// a run (job.go), a task the benchmark itself (task.go), and a coordinatorSession
// one connection of the coordinator (session.go). Logs that no coordinator has
// fetched are kept (kept.go).
package agent

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
)

// minKey is the minimum length of the key of a run.
const minKey = 16

// Options configure an agent.
type Options struct {
	Warp     string // version
	Token    string
	Folder   string        // for logs
	Timeout  time.Duration // the run ends after this long without a message from the coordinator; 0 = 10 s
	Skew     time.Duration // offset of the clock, for tests
	SourceIP netip.Addr    // source address of connections to the store; zero = chosen by the system
	Logf     func(format string, args ...any)
	// Redact returns a function that removes the given secrets from text.
	Redact func(secrets ...string) func(string) string
	// Operation returns an operation of the named benchmark's type, or nil if
	// there is none.
	Operation func(benchmark string) bench.Op
}

// An Agent serves one coordinator at a time.
type Agent struct {
	options Options
	host    string

	mu           sync.Mutex
	job          *job
	kept         []keptLog
	shuttingDown bool          // no new jobs are accepted
	idle         chan struct{} // closed while there is no job
}

// New returns an agent that waits to be served.
func New(o Options) *Agent {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	a := &Agent{options: o}
	a.host, _ = os.Hostname() // for messages only
	return a
}

func (o *Options) redact(j *protocol.Job) func(string) string {
	if o.Redact == nil || j == nil {
		return func(s string) string { return s }
	}
	var secrets []string
	for _, k := range j.Store.Keys {
		secrets = append(secrets, k.SecretKey, k.SessionToken)
	}
	if j.Exports.Influx != nil {
		secrets = append(secrets, j.Exports.Influx.Token)
	}
	return o.Redact(secrets...)
}

func (a *Agent) logf(format string, args ...any) { a.options.Logf(format, args...) }

// Serve serves coordinators that connect to l. Without a TLS config it makes a
// certificate. It ends with ctx, after stopping and cleaning up the current
// run.
func (a *Agent) Serve(ctx context.Context, l net.Listener, config *tls.Config) error {
	server := &transport.Server{
		Identity: transport.Identity{Protocol: protocol.Version, Warp: a.options.Warp, Token: a.options.Token},
		TLS:      config, Logf: a.logf, Handle: a.serveCoordinator,
	}
	conns, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(conns, l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	a.shutDown(errQuit)
	hangUp()
	<-ended
	return context.Cause(ctx)
}

// errQuit ends the run of an agent that is stopped on its machine.
var errQuit = errors.New("warp client was stopped on its machine")

// shutDown ends the current run, and waits until its bucket is clean.
func (a *Agent) shutDown(cause error) {
	a.mu.Lock()
	a.shuttingDown = true
	j, idle := a.job, a.idle
	a.mu.Unlock()
	if j == nil {
		return
	}
	a.logf("run %s: stopping and cleaning up", j.run)
	j.loseCoordinator(cause)
	<-idle
	j.awaitDisconnect()
}

// awaitDisconnect gives the coordinator a moment to hang up, which it does once
// it knows that nothing is left. Otherwise it would wait for the lease of a
// dead client.
func (j *job) awaitDisconnect() {
	const timeout = 2 * time.Second
	for began := time.Now(); time.Since(began) < timeout; time.Sleep(10 * time.Millisecond) {
		j.mu.Lock()
		there := j.channel != nil
		j.mu.Unlock()
		if !there {
			return
		}
	}
}

// serveCoordinator serves an authenticated coordinator.
func (a *Agent) serveCoordinator(ctx context.Context, ch *transport.Conn) error {
	k, body, err := ch.Receive()
	if err != nil {
		return err
	}
	var want protocol.AttachRequest
	if k != protocol.KindAttach {
		return fmt.Errorf("a message of kind %d came first", k)
	}
	if err := protocol.Decode(body, &want); err != nil {
		return err
	}
	j, answer := a.admit(&want)
	if err := ch.Send(protocol.KindAttached, answer); err != nil {
		return err
	}
	switch {
	case answer.Refused != "":
		return nil
	case want.Purpose == protocol.ForCollect:
		return a.serveKeptLogs(ctx, ch)
	}
	return j.readLoop(ctx, ch)
}

// admit assigns a job to the coordinator.
func (a *Agent) admit(want *protocol.AttachRequest) (*job, *protocol.AttachReply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := &protocol.AttachReply{Host: a.host}
	j := a.job
	switch {
	case want.Purpose == protocol.ForResume:
		if j == nil || !j.belongsTo(want) {
			answer.Unknown, answer.Refused = true, fmt.Sprintf("it was started anew, or has given up, and knows nothing of run %.64s", want.Run)
			return nil, answer
		}
	case want.Purpose == protocol.ForRun && j != nil && j.belongsTo(want):
		if j.client != want.Client {
			answer.Refused = "it is part of this run already: the list has it twice, by two names of one machine"
			return nil, answer
		}
		// The connection broke before the coordinator received permission to
		// continue.
	case j != nil:
		j.mu.Lock()
		defer j.mu.Unlock()
		answer.Wait = j.channel == nil
		answer.Refused = fmt.Sprintf("it is busy with run %s since %s", j.run, j.since.Format("15:04:05"))
		if answer.Wait {
			answer.Refused += ", whose coordinator is gone"
		}
		return nil, answer
	case want.Purpose == protocol.ForCollect:
		for _, k := range a.kept {
			answer.Kept = append(answer.Kept, k.Saved)
		}
		return nil, answer
	case a.shuttingDown:
		answer.Refused = errQuit.Error()
		return nil, answer
	case want.Purpose != protocol.ForRun || !protocol.IsName(want.Run) || len(want.Key) < minKey:
		answer.Refused = fmt.Sprintf("it does not know what %.64q is", want.Purpose)
		return nil, answer
	default:
		j = newJob(a, want)
		a.job, a.idle = j, make(chan struct{})
		a.logf("run %s begins", j.run)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	answer.HasJob, answer.Status = j.spec != nil, j.status
	return j, answer
}

// belongsTo reports whether this coordinator began the job.
func (j *job) belongsTo(want *protocol.AttachRequest) bool {
	return j.run == want.Run && subtle.ConstantTimeCompare([]byte(j.key), []byte(want.Key)) == 1
}

// release frees the agent.
func (a *Agent) release(j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.job != j {
		return
	}
	a.job = nil
	a.keepLog(j)
	close(a.idle)
	if a.shuttingDown {
		a.logf("run %s is over", j.run)
	} else {
		a.logf("run %s is over; ready for the next one", j.run)
	}
}
