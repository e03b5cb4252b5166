package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"warp/pkg/bench"
	"warp/pkg/fleet/transport"
	"warp/pkg/oplog"
	"warp/pkg/oplog/merge"
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
	clock   clock
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
	f := &Fleet{options: o, key: rand.Text(), clock: newClock(0), changed: make(chan struct{}), dialer: transport.Dialer{
		Identity: transport.Identity{Protocol: Protocol, Warp: o.Warp, Token: o.Token}, Roots: o.Roots, Dial: o.Dial,
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

// Connect reserves all clients and compares their clocks.
func (f *Fleet) Connect(ctx context.Context) error {
	for _, l := range f.links {
		f.work.Go(func() { l.run(f.ctx) })
	}
	f.work.Go(f.watchContacts)
	f.measureClocks()
	stop := f.noteAbsent()
	defer stop()
	noted := map[string]string{}
	timeout := max(f.options.BusyTimeout, f.options.ConnectTimeout) + 10*time.Second
	err := f.await(ctx, "to compare the clocks", timeout, forEvery, func(l *link) bool {
		if l.note != "" && noted[l.id] != l.note {
			noted[l.id] = l.note
			f.options.Logf("waiting for client %s: %s", l.name(), l.note)
		}
		return l.now.Samples >= clockSamples
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		l.first, l.last = l.now, l.now
		if l.first.tooFar() {
			return &Error{l.name(), fmt.Errorf("its clock is off by %v, and the limit is %v: set it, by NTP for example",
				l.first.Ahead.Round(time.Millisecond), maxSkew)}
		}
	}
	return nil
}

// noteAbsent reports now and then which clients are missing, and why, while
// clients are still being started.
func (f *Fleet) noteAbsent() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	f.work.Go(func() {
		for wait := 5 * time.Second; pause(ctx, wait); wait = 30 * time.Second {
			if text := f.absent(); text != "" {
				f.options.Logf("%s", text)
			}
		}
	})
	return cancel
}

// absent counts the clients that have not answered, and names one of them.
func (f *Fleet) absent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first *link
	missing := 0
	for _, l := range f.links {
		if l.admitted || l.gone != nil || l.dialError == nil {
			continue
		}
		if missing++; first == nil {
			first = l
		}
	}
	if missing == 0 {
		return ""
	}
	if len(f.links) == 1 {
		return fmt.Sprintf("client %s does not answer yet: %v; it is given %v", first.name(), first.dialError, f.options.ConnectTimeout)
	}
	if missing == 1 {
		return fmt.Sprintf("client %s of %d does not answer yet: %v; it is given %v", first.name(), len(f.links), first.dialError, f.options.ConnectTimeout)
	}
	return fmt.Sprintf("%d of %d clients do not answer yet, client %s among them: %v; each is given %v",
		missing, len(f.links), first.name(), first.dialError, f.options.ConnectTimeout)
}

// measureClocks asks all clients for their time, many times in a row.
func (f *Fleet) measureClocks() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.lost == nil {
			l.now, l.samples = Offset{}, clockSamples
			l.wake()
		}
	}
}

// A Client is what is known of one.
type Client struct {
	Addr, ID, Host string
	Clock          Offset
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

// A Plan is what all clients do.
type Plan struct {
	Job   Job
	Start time.Time // when to begin to measure; zero is as soon as all are ready
}

// share makes the job of one client out of everybody's. Only the first one
// empties the bucket.
func (f *Fleet) share(p Plan, i int) *Job {
	l := f.links[i]
	j := p.Job
	o := &j.Options
	o.RunID, o.ClientID, o.LeaseID = f.options.Run, l.id, l.id
	o.Client, o.Clients = i, len(f.links) // so that each has names and random choices of its own
	o.ClearBucket = o.ClearBucket && i == 0
	if o.MaxErrors.IsPct {
		o.MaxErrors = bench.ErrorLimit{} // of all requests, which only the fleet knows
	}
	j.Header.ClockOffset, j.Header.Threads = int64(l.first.Ahead), uint32(o.Concurrency)
	j.Name = l.name()
	return &j
}

// Prepare hands out the shares and has everything made ready. The bucket is for
// the first client to make.
func (f *Fleet) Prepare(ctx context.Context, p Plan) error {
	f.mu.Lock()
	f.plan = p
	for i, l := range f.links {
		l.job = f.share(p, i)
		l.wake()
	}
	f.mu.Unlock()
	for _, links := range [][]*link{f.links[:1], f.links} {
		f.setDesired(links, func(o *desiredState) { o.Goal = Opened })
		if err := f.awaitAll(ctx, links, Opened); err != nil {
			return err
		}
	}
	if !p.Job.NoLog {
		if err := f.makeSpools(); err != nil {
			return err
		}
	}
	f.setDesired(f.links, func(o *desiredState) { o.Goal = Prepared })
	return f.awaitAll(ctx, f.links, Prepared)
}

func (f *Fleet) makeSpools() error {
	for i, l := range f.links {
		s, err := newSpool(f.options.Spool(l.id))
		if err != nil {
			return err
		}
		f.mu.Lock()
		if l.spool = s; f.options.Rows != nil {
			f.follow(i)
		}
		f.mu.Unlock()
	}
	return nil
}

// setDesired changes the desired state of links.
func (f *Fleet) setDesired(links []*link, change func(*desiredState)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range links {
		change(&l.desired)
		l.wake()
	}
}

func (f *Fleet) awaitAll(ctx context.Context, links []*link, p Phase) error {
	due := make(map[*link]bool, len(links)) // thousands of them are looked at after every change
	for _, l := range links {
		due[l] = true
	}
	return f.await(ctx, p.String(), f.options.StepTimeout, forEvery, func(l *link) bool { return l.status.Phase >= p || !due[l] })
}

// A wait says for whom to wait.
type wait int

const (
	forEvery   wait = iota // client: the first one that fails is an error that names it
	forCounted             // one whose share counts: the wait goes on without one that fails
	forPresent             // one that is still spoken to, though its share may not count
)

// await waits until the clients are done. One that makes no progress within
// the timeout has failed.
func (f *Fleet) await(ctx context.Context, what string, timeout time.Duration, whom wait, done func(*link) bool) error {
	f.update(func() {
		for _, l := range f.links {
			l.progressed = time.Now()
		}
	})
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		f.mu.Lock()
		waiting, err := f.countWaiting(what, timeout, whom, done)
		changed := f.changed
		f.mu.Unlock()
		if err != nil || waiting == 0 {
			return err
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// countWaiting counts the clients that are not done. The lock is held.
func (f *Fleet) countWaiting(what string, timeout time.Duration, whom wait, done func(*link) bool) (waiting int, err error) {
	for _, l := range f.links {
		f.passWarnings(l)
		if l.failed() {
			l.discount(l.status.failure())
		}
		out := l.lost
		if whom == forPresent {
			out = l.gone
		}
		switch {
		case out != nil || done(l):
		case time.Since(l.progressed) <= timeout:
			waiting++
		case whom == forPresent:
			l.giveUpLocked(stuck(timeout, what))
		default:
			l.discount(stuck(timeout, what))
		}
		if whom == forEvery && l.lost != nil {
			return 0, &Error{l.name(), l.lost}
		}
	}
	return waiting, nil
}

func stuck(timeout time.Duration, what string) error {
	return fmt.Errorf("waited %v for it while it was %s, without any progress", timeout, what)
}

// failed says whether the client can do no more. Too many failed requests are
// the run's failure, and not its own. The lock is held.
func (l *link) failed() bool {
	return l.status.Error != "" && !(l.status.Outcome != nil && l.status.Outcome.TooMany)
}

// passWarnings says what the client has to say. The lock is held.
func (f *Fleet) passWarnings(l *link) {
	for ; l.warn < len(l.status.Warning); l.warn++ {
		f.options.Logf("client %s: %s", l.name(), l.status.Warning[l.warn])
	}
}

// startLead is how long before the start all clients must know it.
const startLead = 500 * time.Millisecond

// Measure starts all clients at one instant and waits until the last one is
// done. A client that is lost ends nothing. The end of ctx ends the run early.
// Began is called at the start.
func (f *Fleet) Measure(ctx context.Context, began func()) error {
	if err := f.compareAgain(ctx, "before the start"); err != nil {
		return err
	}
	if f.plan.Start.IsZero() {
		f.beforeStart(ctx)
	}
	start, err := f.announceStart()
	if err != nil {
		return err
	}
	if !f.plan.Start.IsZero() {
		f.options.Logf("all clients are ready; measuring begins at %s", f.plan.Start.Format("15:04:05"))
	}
	// That may be long, and a run that begins without a client is not what was asked for.
	if err := f.awaitUntil(ctx, start.Add(-max(startLead, f.options.BeforeStartLead))); err != nil {
		return err
	}
	if !f.plan.Start.IsZero() {
		f.beforeStart(ctx)
	}
	if err := f.awaitUntil(ctx, start.Add(-startLead)); err != nil {
		return err
	}
	f.update(func() { f.measures = true })
	if pause(ctx, time.Until(start)) {
		f.takeMarks(true)
		defer f.takeMarks(false)
		began()
	} else {
		f.Stop(context.Cause(ctx))
	}
	watch, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { f.Stop(context.Cause(ctx)) })()
	stopCounting := f.limitErrors(watch)
	defer stopCounting()
	over := make(chan struct{})
	defer close(over)
	f.work.Go(func() { f.watchWindow(over) })
	timeout := f.options.StepTimeout + f.plan.Job.Options.Duration + max(f.plan.Job.Options.Drain, 30*time.Second)
	if f.plan.Job.Options.Duration == 0 {
		timeout = 1 << 62 // until somebody ends it
	}
	return f.await(watch, Measured.String(), timeout, forCounted, func(l *link) bool {
		if o := l.status.Outcome; o != nil && o.TooMany {
			f.stopLocked(o.Fatal)
		}
		return l.status.Phase >= Measured || l.status.Outcome != nil
	})
}

// awaitUntil waits for the time, and ends early where a client is lost meanwhile.
func (f *Fleet) awaitUntil(ctx context.Context, t time.Time) error {
	return f.await(ctx, "waiting for the start", 1<<62, forEvery, func(*link) bool { return !time.Now().Before(t) })
}

// beforeStart does what the caller wants done before the run is measured.
func (f *Fleet) beforeStart(ctx context.Context) {
	if f.options.BeforeStart != nil {
		f.options.BeforeStart(ctx)
	}
}

// compareAgain compares the clocks once more, since preparing takes time.
func (f *Fleet) compareAgain(ctx context.Context, when string) error {
	f.measureClocks()
	err := f.await(ctx, "to compare the clocks "+when, 30*time.Second, forEvery, func(l *link) bool { return l.now.Samples >= clockSamples })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if err == nil {
			l.last = l.now
		}
	}
	return err
}

// earliestStart is the first time that all clients can hear of before it has come.
// The lock is held.
func (f *Fleet) earliestStart() time.Time {
	way := time.Duration(0)
	for _, l := range f.links {
		way = max(way, l.last.RoundTrip)
	}
	return time.Now().Add(startLead + 2*way)
}

// announceStart tells every client, by its own clock, when to begin.
func (f *Fleet) announceStart() (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := f.earliestStart()
	if !f.plan.Start.IsZero() {
		if f.plan.Start.Before(start) {
			return start, fmt.Errorf("the start at %s has passed before all clients were ready: begin earlier, or choose a later time", f.plan.Start.Format("15:04:05"))
		}
		start = f.plan.Start
	}
	f.begun = start
	at := f.clock.unixNano(start)
	if start.Equal(f.plan.Start) {
		at = start.UnixNano() // of the wall clock; the other has its monotonic reading
		f.begun = f.clock.time(at)
	}
	f.window = oplog.Window{Start: at}
	for _, l := range f.links {
		l.desired.Goal, l.desired.Start = Measured, l.clockAt(at)
		l.wake()
	}
	return f.begun, nil
}

// interruptedRun is the reason that says that the user ended the run.
const interruptedRun = "interrupted"

// Stop ends the run of all clients now. What they have is kept.
func (f *Fleet) Stop(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reason := interruptedRun
	if cause != nil && !errors.Is(cause, bench.ErrInterrupted) {
		reason = cause.Error()
		f.fatal = cmp.Or(f.fatal, cause)
	}
	f.stopLocked(reason)
}

func (f *Fleet) stopLocked(reason string) {
	if f.measures && f.window.End == 0 && time.Now().After(f.begun) {
		f.closeWindow(f.earliestEnd())
	}
	for _, l := range f.links {
		if l.desired.Stop == "" {
			l.desired.Stop = reason
			l.wake()
		}
	}
}

// End ends the measured run of all clients in good order at the same instant.
// Their logs say why.
func (f *Fleet) End(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.window.End == 0 {
		f.closeWindow(f.earliestEnd())
	}
	for _, l := range f.links {
		if l.desired.End == 0 {
			l.desired.End, l.desired.EndReason = l.desired.Close, why
			l.wake()
		}
	}
}

// Trace has all clients note the phases of requests from now on, or no longer.
func (f *Fleet) Trace(on bool) {
	state := "off"
	if on {
		state = traceOn
	}
	f.setDesired(f.links, func(o *desiredState) { o.Trace = state })
}

// limitErrors ends the run when more requests have failed, over all clients,
// than are allowed.
func (f *Fleet) limitErrors(ctx context.Context) (stop func()) {
	limit := f.plan.Job.Options.MaxErrors
	if !limit.Set {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for pause(ctx, time.Second) {
			var sent, failed int64
			for _, op := range f.Snapshot().Ops {
				sent += int64(op.Requests)
				failed += int64(op.Errors)
			}
			if limit.Exceeded(failed, sent) {
				f.Stop(fmt.Errorf("%w (%s): %d of %d failed", bench.ErrTooManyErrors, limit, failed, sent))
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// Finish compares the clocks again, has all logs completed, and waits until
// they are here.
func (f *Fleet) Finish(ctx context.Context) error {
	f.measureClocks()
	_ = f.await(ctx, "to compare the clocks after the run", 30*time.Second, forCounted, func(l *link) bool { return l.now.Samples >= clockSamples })
	f.mu.Lock()
	f.judgeClocks()
	f.mu.Unlock()
	f.reportContacts(unheard)
	f.mu.Lock()
	f.noteLost()
	notes := slices.Clone(f.notes)
	f.mu.Unlock()
	f.setDesired(f.links, func(o *desiredState) { o.Goal, o.Notes = max(o.Goal, Stored), notes })
	return f.await(ctx, Stored.String(), f.options.StepTimeout, forCounted, func(l *link) bool { return l.arrived() })
}

// arrived says whether the client's log is here, whole. The lock is held.
func (l *link) arrived() bool {
	switch {
	case l.counted:
		return true
	case l.status.Phase < Stored:
		return false
	case l.spool == nil || l.status.Bytes == 0:
		l.counted = true
		return true
	case l.spool.size < l.status.Bytes:
		return false
	}
	if err := l.spool.check(l.status.Bytes, l.status.SHA256); err != nil {
		l.discount(err)
		return true
	}
	l.verified, l.counted = true, true
	return true
}

// minDrift is the smallest drift that is noted: clients start within it.
const minDrift = 10 * time.Millisecond

// judgeClocks says which clocks have moved against ours. The lock is held.
func (f *Fleet) judgeClocks() {
	for _, l := range f.links {
		if l.lost != nil || l.now.Samples < clockSamples {
			continue
		}
		drift := l.now.Ahead - l.first.Ahead
		doubt := (l.now.RoundTrip + l.first.RoundTrip) / 2
		l.last = l.now
		switch {
		case drift.Abs()-doubt > maxSkew:
			l.discount(fmt.Errorf("its clock moved by %v during the run, so its times mean nothing", drift.Round(time.Millisecond)))
		case drift.Abs()-doubt > minDrift:
			f.notes = append(f.notes, fmt.Sprintf("the clock of client %s moved by %v against the coordinator's during the run", l.name(), drift.Round(100*time.Microsecond)))
		}
	}
}

// AddNote adds to what the merged log says of the run, after the clients have
// completed theirs.
func (f *Fleet) AddNote(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, text)
}

// noteLost says whose share is missing. The lock is held.
func (f *Fleet) noteLost() {
	left := 0
	f.notes = slices.DeleteFunc(f.notes, merge.IsLostShare)
	for _, l := range f.links {
		if l.lost == nil {
			left++
		}
	}
	for _, l := range f.links {
		if l.lost == nil {
			continue
		}
		when := ""
		if !f.begun.IsZero() {
			when = fmt.Sprintf(", heard of last %v after the start", max(0, l.contact.Sub(f.begun)).Round(time.Second))
		}
		f.notes = append(f.notes, fmt.Sprintf("client %s was lost%s (%v): %s",
			l.name(), when, l.lost, merge.LostShare(l.id, left, len(f.links))))
	}
	f.lostNoted = len(f.links) - left
}

// Clean has all clients remove what they wrote, and lets them go. One of those
// that are left also removes what others could not, once their leases allow it.
func (f *Fleet) Clean(ctx context.Context) error {
	f.setDesired(f.links, func(o *desiredState) { o.Goal = max(o.Goal, Cleaned) })
	err := f.await(ctx, Cleaned.String(), f.options.StepTimeout, forPresent, func(l *link) bool { return l.status.Phase >= Cleaned })
	if err == nil {
		err = f.cleanUpOrphans(ctx)
	}
	f.mu.Lock()
	for _, l := range f.links {
		l.desired.Goal, l.desired.LogReceived = Released, l.verified
		l.wake()
	}
	f.mu.Unlock()
	released := f.await(ctx, Released.String(), 10*time.Second, forPresent, func(l *link) bool { return l.status.Phase >= Released })
	return bench.JoinErrors([]error{err, released, f.cleanUpErrors()})
}

// cleanUpOrphans has a client that is there remove what lost clients left. If that
// one is lost too, another one cleans up after both.
func (f *Fleet) cleanUpOrphans(ctx context.Context) error {
	timeout := f.options.StepTimeout + f.plan.Job.Options.Lease
	for {
		cleaner, gone := f.delegate()
		if cleaner == nil {
			return nil
		}
		err := f.await(ctx, "removing what lost clients left", timeout, forPresent, func(l *link) bool {
			return l != cleaner || l.status.OrphansDone >= len(l.desired.Orphans) || l.status.Phase == Released // somebody ended it
		})
		if err != nil {
			return err
		}
		f.mu.Lock()
		if cleaner.gone == nil && cleaner.status.OrphansDone >= len(cleaner.desired.Orphans) {
			for _, l := range gone {
				l.orphanRemoved = true
			}
		}
		f.mu.Unlock()
	}
}

// delegate names the lost clients to a client that is there, which cleans up
// after them. It returns no client where nothing is left, or nobody is there.
func (f *Fleet) delegate() (cleaner *link, gone []*link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.plan.Job.Options.NoClear || f.plan.Job.Options.KeepData {
		return nil, nil
	}
	for _, l := range f.links {
		switch {
		case l.gone == nil && l.status.TakesOrphans && l.status.Phase < Released && cleaner == nil:
			cleaner = l
		case l.gone != nil && l.job != nil && l.status.Phase < Cleaned && !l.orphanRemoved:
			gone = append(gone, l)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if cleaner == nil {
		f.options.Logf("nobody is there to remove what client %s left: the next warp on this bucket does, %v from now or later", gone[0].name(), f.plan.Job.Options.Lease)
		return nil, nil
	}
	for _, l := range gone {
		f.options.Logf("client %s is gone; what it left is removed once its lease has run out, %v after its last sign of life", l.name(), f.plan.Job.Options.Lease)
		cleaner.desired.Orphans = append(slices.Clip(cleaner.desired.Orphans), l.id)
	}
	cleaner.wake()
	return cleaner, gone
}

// cleanUpErrors says which clients could not clean up.
func (f *Fleet) cleanUpErrors() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, l := range f.links {
		if l.status.Clean != "" {
			errs = append(errs, &Error{l.name(), errors.New(l.status.Clean)})
		}
	}
	return bench.JoinErrors(errs)
}

// Abort ends a run that did not get to be measured, and cleans up.
func (f *Fleet) Abort(ctx context.Context, cause error) error {
	f.Stop(cause)
	f.mu.Lock()
	reserved := slices.ContainsFunc(f.links, func(l *link) bool { return l.admitted })
	for _, l := range f.links {
		if !l.admitted {
			l.giveUpLocked(&refusedError{text: "it never was part of the run"})
		}
		if l.job == nil {
			l.desired.Goal = Released
		}
	}
	f.mu.Unlock()
	if !reserved {
		return nil
	}
	_ = f.EndRows()
	f.setDesired(f.links, func(o *desiredState) { o.Goal = max(o.Goal, Stored) })
	err := f.Clean(ctx)
	f.DropLogs()
	return err
}

// DropLogs removes what arrived of the logs, which nobody wants to keep.
func (f *Fleet) DropLogs() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.links {
		if l.spool != nil {
			_ = l.spool.remove() // it has no requests of a run
			l.spool = nil
		}
	}
}
