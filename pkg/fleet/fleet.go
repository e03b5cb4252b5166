package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net"
	"sync"
	"time"

	"warp/pkg/fleet/clock"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
	"warp/pkg/oplog"
)

// Options configure the clients and the timeouts of a fleet.
type Options struct {
	Warp    string // version
	Token   string
	Run     string // id of the run
	Members []Member
	Roots   *x509.CertPool // verify certificates of clients without a pin; nil = not verified
	Logf    func(format string, args ...any)
	Warnf   func(format string, args ...any) // reports what makes the figures less reliable; nil = Logf
	// Spool returns the name of the file that keeps the log of a client until
	// all logs are merged.
	Spool func(client string) string
	// Rows receives the rows of all clients as they arrive, of several clients
	// at once; nil = not wanted. They are valid until it returns, which may
	// take arbitrarily long.
	Rows func([]oplog.Record) error

	// BeforeStart is called once all clients are ready, before the run is
	// measured. With BeforeStartLead it is called this long before the start,
	// and otherwise the start follows it at once. nil = nothing to do.
	BeforeStart     func(ctx context.Context)
	BeforeStartLead time.Duration

	ConnectTimeout time.Duration // limit for the first response of a client; 0 = 5 s
	Starting       bool          // clients are being started, so another server at a client's address may still be replaced
	BusyTimeout    time.Duration // limit for a client to finish another run; 0 = 1 min
	Timeout        time.Duration // a client is lost after this long without a message; 0 = 15 s
	StepTimeout    time.Duration // limit for a client without progress; 0 = 10 min
	Dial           func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A Fleet is the coordinator's side of a run on many clients.
type Fleet struct {
	options Options
	dialer  transport.Dialer
	key     string // for connections that resume the run
	clock   clock.Clock
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	following sync.WaitGroup // goroutines that pass on rows
	rowsEnd   bool           // no more rows will arrive

	mu        sync.Mutex
	links     []*link
	changed   chan struct{} // closed and replaced at every change
	figures   int           // number of figures received
	shown     snapshot
	notes     []string
	late      []string  // notes only for the merged log
	lostNoted int       // clients reported as lost in the notes
	fatal     error     // why this process ended the run, unless the user did
	begun     time.Time // when the measured run began
	measures  bool      // the run has begun: losing a client no longer ends it
	plan      Plan

	window oplog.Window // of all clients, by our clock, as far as known

	marks   []oplog.Mark // by our clock
	marking bool         // new marks are accepted
}

// New returns the coordinator of the clients. Call Close afterwards.
func New(o Options) *Fleet {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, 5*time.Second)
	o.BusyTimeout = cmp.Or(o.BusyTimeout, max(time.Minute, o.ConnectTimeout))
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.StepTimeout = cmp.Or(o.StepTimeout, 10*time.Minute)
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Warnf == nil {
		o.Warnf = o.Logf
	}
	f := &Fleet{options: o, key: rand.Text(), clock: clock.New(0), changed: make(chan struct{}), dialer: transport.Dialer{
		Identity: transport.Identity{Protocol: protocol.Version, Warp: o.Warp, Token: o.Token}, Roots: o.Roots, Dial: o.Dial,
	}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	width := len(fmt.Sprint(len(o.Members)))
	for i, m := range o.Members {
		f.links = append(f.links, &link{
			fleet: f, member: m, id: fmt.Sprintf("%s-%0*d", o.Run, width, i+1),
			wakeUp: make(chan struct{}, 1), progressed: time.Now(), contact: time.Now(),
		})
	}
	return f
}

// Close ends all connections.
func (f *Fleet) Close() {
	f.cancel()
	_ = f.EndRows()
	f.work.Wait()
}

func (f *Fleet) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// An Error is a failure of one client.
type Error struct {
	Client string
	Err    error
}

func (e *Error) Error() string { return "client " + e.Client + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// A Client describes one client.
type Client struct {
	Addr, ID, Host string
	Clock          clock.Offset
}

// Clients returns the clients of the fleet, in the order of the list.
func (f *Fleet) Clients() []Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Client
	for _, l := range f.links {
		all = append(all, Client{Addr: l.name(), ID: l.id, Host: l.host, Clock: l.last})
	}
	return all
}

// setDesired changes the desired state of links.
func (f *Fleet) setDesired(links []*link, change func(*protocol.DesiredState)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range links {
		change(&l.desired)
		l.wake()
	}
}
