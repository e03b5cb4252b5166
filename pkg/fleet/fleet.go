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

// Options name the clients and say how long to wait for them.
type Options struct {
	Warp    string // version
	Token   string
	Run     string // id of the run
	Members []Member
	Roots   *x509.CertPool // that certificates of clients without a pin are checked by; nil = they are not
	Logf    func(format string, args ...any)
	Warnf   func(format string, args ...any) // of what makes the figures less than they seem; nil = Logf
	// Spool names the file that the log of a client is kept in until all are merged.
	Spool func(client string) string
	// Rows is given the rows of all clients as they arrive, of several at
	// once; nil = nobody wants them. They are valid until it returns, which may
	// take as long as it likes.
	Rows func([]oplog.Record) error

	// BeforeStart is called once all clients are ready, and before the run is measured: BeforeStartLead before the start if that was
	// given, otherwise at once, and the start follows; nil = there is nothing to do.
	BeforeStart     func(ctx context.Context)
	BeforeStartLead time.Duration

	ConnectTimeout time.Duration // until a client must have answered first; 0 = 5 s
	Starting       bool          // clients are being started: what answers in place of one may give way to it
	BusyTimeout    time.Duration // until one that finishes another run must be free; 0 = 1 min
	Timeout        time.Duration // without a word of a client until it is lost; 0 = 15 s
	StepTimeout    time.Duration // without any progress of a client; 0 = 10 min
	Dial           func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A Fleet is the coordinator's side of a run on many clients.
type Fleet struct {
	options Options
	dialer  transport.Dialer
	key     string // that a connection resumes the run with
	clock   clock.Clock
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	following sync.WaitGroup // those who hand on rows
	rowsEnd   bool           // all that arrive have arrived

	mu        sync.Mutex
	links     []*link
	changed   chan struct{} // closed and replaced at every change
	figures   int           // counts the figures that have arrived
	shown     snapshot
	notes     []string
	late      []string  // that only the merged log has
	lostNoted int       // clients that the notes call lost
	fatal     error     // why the run was ended here, unless the user did
	begun     time.Time // when the measured run began
	measures  bool      // it has begun: a client that is lost from now on ends nothing
	plan      Plan

	window oplog.Window // of all clients, by our clock, as far as it is decided

	marks   []oplog.Mark // by our clock
	marking bool         // more of them are taken
}

// New prepares to lead the clients. Close must follow.
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

// An Error is a failure of one client, which it names.
type Error struct {
	Client string
	Err    error
}

func (e *Error) Error() string { return "client " + e.Client + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// A Client is what is known of one.
type Client struct {
	Addr, ID, Host string
	Clock          clock.Offset
	Engine         string
}

// Clients returns the clients of the fleet, in the order of the list.
func (f *Fleet) Clients() []Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Client
	for _, l := range f.links {
		all = append(all, Client{Addr: l.name(), ID: l.id, Host: l.host, Clock: l.last, Engine: l.status.Engine})
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
