package fleet

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/transport"
)

// Protocol is the version of the language between coordinator and agent.
// Whoever changes a message or what it means makes it one higher.
const Protocol = 5

// minToken is the fewest characters of a token. Whoever answers in place of an
// agent can try out tokens offline, so it must not be a word.
const minToken = 16

// DefaultPort is the port of agents.
const DefaultPort = "7761"

// AgentOptions say how an agent behaves.
type AgentOptions struct {
	Warp     string // version
	Token    string
	Folder   string        // for logs
	Timeout  time.Duration // without a word of the coordinator until the run is ended; 0 = 10 s
	Skew     time.Duration // moves the clock, for tests
	SourceIP netip.Addr    // that connections to the store come from; zero leaves it to the system
	Logf     func(format string, args ...any)
	// Redact makes a function that takes the given secrets out of text.
	Redact func(secrets ...string) func(string) string
	// Operation returns an operation of the type that a benchmark of that name
	// has, nil if there is none.
	Operation func(benchmark string) bench.Op
	// NewTask makes the work of a job; nil is a benchmark.
	NewTask func(j *job, spec *Job) (Task, error)
}

// An Agent serves one coordinator at a time.
type Agent struct {
	options AgentOptions
	host    string

	mu           sync.Mutex
	job          *job
	kept         []keptLog
	shuttingDown bool          // it takes part in nothing any more
	idle         chan struct{} // closed while there is no job
}

// A keptLog is one that no coordinator has.
type keptLog struct {
	Saved
	path string
}

// NewAgent returns an agent that waits to be served.
func NewAgent(o AgentOptions) *Agent {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.NewTask == nil {
		o.NewTask = newBenchTask
	}
	a := &Agent{options: o}
	a.host, _ = os.Hostname() // for messages only
	return a
}

func (o *AgentOptions) redact(j *Job) func(string) string {
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

// errNoToken says why an agent without a token does not listen to the network.
var errNoToken = errors.New("without a token anybody on the network could command this machine, so warp client listens on loopback addresses only: set WARP_CLIENT_TOKEN or --token-file to listen elsewhere")

// CheckToken refuses tokens that are easy to find, and none where one is needed.
func CheckToken(token string, addrs ...netip.Addr) error {
	if token != "" && len(token) < minToken {
		return fmt.Errorf("the token has %d characters, and the minimum is %d: make one with `openssl rand -hex 16`", len(token), minToken)
	}
	for _, addr := range addrs {
		if token == "" && !addr.IsLoopback() {
			return errNoToken
		}
	}
	return nil
}

// Serve serves coordinators that connect to l. Without a config of TLS it makes
// a certificate. It ends with ctx, after the run that is on has been stopped and
// cleaned up.
func (a *Agent) Serve(ctx context.Context, l net.Listener, config *tls.Config) error {
	server := &transport.Server{
		Identity: transport.Identity{Protocol: Protocol, Warp: a.options.Warp, Token: a.options.Token},
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

// errQuit ends the run of an agent that is ended on its machine.
var errQuit = errors.New("somebody ended warp client on its machine")

// shutDown ends the run that is on, and waits until its bucket is clean.
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

// awaitDisconnect waits a moment for the coordinator to hang up, which it does
// once it knows that nothing is left. Otherwise it would wait for the lease of a
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

// serveCoordinator serves a coordinator that has proven itself.
func (a *Agent) serveCoordinator(ctx context.Context, ch *transport.Conn) error {
	k, body, err := ch.Receive()
	if err != nil {
		return err
	}
	var want attachRequest
	if k != kindAttach {
		return fmt.Errorf("a message of kind %d came first", k)
	}
	if err := decode(body, &want); err != nil {
		return err
	}
	j, answer := a.admit(&want)
	if err := ch.Send(kindAttached, answer); err != nil {
		return err
	}
	switch {
	case answer.Refused != "":
		return nil
	case want.Purpose == forCollect:
		return a.serveKeptLogs(ctx, ch)
	}
	return j.readLoop(ctx, ch)
}

// admit finds the job that the coordinator is to have.
func (a *Agent) admit(want *attachRequest) (*job, *attachReply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := &attachReply{Host: a.host}
	j := a.job
	switch {
	case want.Purpose == forResume:
		if j == nil || !j.belongsTo(want) {
			answer.Unknown, answer.Refused = true, fmt.Sprintf("it was started anew, or has given up, and knows nothing of run %s", printable(want.Run))
			return nil, answer
		}
	case want.Purpose == forRun && j != nil && j.belongsTo(want):
		if j.client != want.Client {
			answer.Refused = "it is part of this run already: the list has it twice, by two names of one machine"
			return nil, answer
		}
		// The connection broke before the coordinator had heard that it may go on.
	case j != nil:
		j.mu.Lock()
		defer j.mu.Unlock()
		answer.Wait = j.channel == nil
		answer.Refused = fmt.Sprintf("it is busy with run %s since %s", j.run, j.since.Format("15:04:05"))
		if answer.Wait {
			answer.Refused += ", whose coordinator is gone"
		}
		return nil, answer
	case want.Purpose == forCollect:
		for _, k := range a.kept {
			answer.Kept = append(answer.Kept, k.Saved)
		}
		return nil, answer
	case a.shuttingDown:
		answer.Refused = errQuit.Error()
		return nil, answer
	case want.Purpose != forRun || !identifier.MatchString(want.Run) || len(want.Key) < minToken:
		answer.Refused = fmt.Sprintf("it does not know what %q is", printable(string(want.Purpose)))
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

// belongsTo says whether it is the coordinator that began the job.
func (j *job) belongsTo(want *attachRequest) bool {
	return j.run == want.Run && subtle.ConstantTimeCompare([]byte(j.key), []byte(want.Key)) == 1
}

// maxKept is how many logs an agent remembers. The files stay in any case.
const maxKept = 16

// release frees the agent.
func (a *Agent) release(j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.job != j {
		return
	}
	a.job = nil
	close(a.idle)
	if a.shuttingDown {
		a.logf("run %s is over", j.run)
	} else {
		a.logf("run %s is over; ready for the next one", j.run)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.feed == nil || !j.feed.complete {
		return
	}
	if !j.spec.keepsLog() {
		_ = os.Remove(j.feed.name()) // figures say nothing by themselves, and nobody wants the log
		return
	}
	if j.desired.LogReceived {
		return
	}
	o := &j.spec.Options
	a.kept = append(a.kept, keptLog{
		Saved: Saved{Run: o.RunID, Client: o.ClientID, Benchmark: o.Benchmark, Bytes: j.status.Bytes, SHA256: j.status.SHA256},
		path:  j.feed.name(),
	})
	if len(a.kept) > maxKept {
		a.kept = slices.Delete(a.kept, 0, 1)
	}
}

// serveKeptLogs sends the logs that no coordinator has fetched to one that collects them.
func (a *Agent) serveKeptLogs(ctx context.Context, ch *transport.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var p *pump
	for {
		k, body, err := ch.Receive()
		if err != nil {
			return err
		}
		switch k {
		case kindPing:
			err = pong(ch, body, newClock(0))
		case kindPull:
			p, err = a.pumpKept(ctx, ch, body)
		case kindAck:
			err = acknowledge(p, body)
		case kindForget:
			if err = a.forget(body); err == nil {
				err = ch.SendBytes(kindForget, nil) // done
			}
		default:
			err = fmt.Errorf("a message of kind %d came while logs are collected", k)
		}
		if err != nil {
			return err
		}
	}
}

func (a *Agent) pumpKept(ctx context.Context, ch *transport.Conn, body []byte) (*pump, error) {
	var want pull
	if err := decode(body, &want); err != nil {
		return nil, err
	}
	a.mu.Lock()
	at := slices.IndexFunc(a.kept, func(k keptLog) bool { return k.Run == want.Run })
	if at < 0 || want.Offset < 0 {
		a.mu.Unlock()
		return nil, fmt.Errorf("there is no log of run %s", printable(want.Run))
	}
	path := a.kept[at].path
	a.mu.Unlock()
	p := newPump(&feed{name: func() string { return path }, complete: true}, ch, want.Offset, func() bool { return false })
	go func() {
		if err := p.run(ctx, want.Offset); err != nil {
			ch.Close()
		}
	}()
	return p, nil
}

// forget drops a log that was fetched.
func (a *Agent) forget(body []byte) error {
	var what pull
	if err := decode(body, &what); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = slices.DeleteFunc(a.kept, func(k keptLog) bool { return k.Run == what.Run })
	return nil
}

func pong(ch *transport.Conn, body []byte, c clock) error {
	arrived := c.now()
	if len(body) != 8 && len(body) != 9 {
		return fmt.Errorf("a message cannot be read: %d bytes of a ping", len(body))
	}
	return ch.SendBytes(kindPong, pongBody(body, arrived, c.now()))
}

func acknowledge(p *pump, body []byte) error {
	if len(body) != 8 || p == nil {
		return errors.New("a message cannot be read: an acknowledgement of nothing")
	}
	p.ack(int64(binary.BigEndian.Uint64(body)))
	return nil
}
