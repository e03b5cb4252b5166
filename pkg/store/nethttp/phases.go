package nethttp

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"warp/pkg/store"
)

// A wirePhases records the phases of one request through the hooks of net and net/http. Several
// goroutines call them, some after the request is over.
type wirePhases struct {
	base time.Time
	all  bool // also phases on a connection that was open already

	mu                            sync.Mutex
	finished                      bool          // the answer was received, or there is none
	over                          bool          // nothing is recorded any more
	dns, connect, tls             time.Duration // when they began; 0 = they did not
	sending, sent, answered, read time.Duration // when each happened; 0 = not seen
	phases                        store.Phases
}

func (w *wirePhases) note(change func(now time.Duration)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		change(max(time.Since(w.base), 1))
	}
}

// begun and done record the start and the end of a phase of the connection. If several addresses of
// a name are tried at once, the phase lasts from the start of the first to the end of the one that
// succeeds.
func (w *wirePhases) begun(at *time.Duration) {
	w.note(func(now time.Duration) {
		if *at == 0 {
			*at = now
		}
	})
}

func (w *wirePhases) done(phase int, began *time.Duration, err error) {
	w.note(func(now time.Duration) {
		if err == nil && *began > 0 && w.phases[phase] == 0 {
			w.phases.Add(phase, now-*began)
		}
	})
}

// hooks returns the hooks for the phases of a connection.
func (w *wirePhases) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { w.begun(&w.dns) },
		DNSDone:           func(info httptrace.DNSDoneInfo) { w.done(store.PhaseDNS, &w.dns, info.Err) },
		ConnectStart:      func(_, _ string) { w.begun(&w.connect) },
		ConnectDone:       func(_, _ string, err error) { w.done(store.PhaseConnect, &w.connect, err) },
		TLSHandshakeStart: func() { w.begun(&w.tls) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { w.done(store.PhaseTLS, &w.tls, err) },
	}
}

// finish records the end of the request.
func (w *wirePhases) finish() {
	w.note(func(now time.Duration) { w.read, w.finished = now, true })
}

// end returns the phases of the request if it is finished, and stops recording.
func (w *wirePhases) end() (p *store.Phases, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished {
		return nil, false
	}
	w.over = true
	if w.all && w.sending > 0 && w.answered > 0 {
		w.exchange()
	}
	return &w.phases, true
}

// exchange adds the phases after the connection. If net/http's sending goroutine reports too late
// when the request was sent, that time is unknown. It then counts as part of the wait, since it is
// short.
func (w *wirePhases) exchange() {
	from := w.sending
	if w.sent > from && w.sent <= w.answered {
		w.phases.Add(store.PhaseSend, w.sent-from)
		from = w.sent
	}
	w.phases.Add(store.PhaseWait, w.answered-from)
	w.phases.Add(store.PhaseReceive, w.read-w.answered)
}

// follow starts recording the phases of a request. It returns nil if they are not wanted.
func (t *netTrace) follow() *wirePhases {
	if !t.noted {
		return nil
	}
	w := &wirePhases{base: t.base, all: t.all}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, w)
	return w
}

// takePhases adds the phases of all finished requests to p.
func (t *netTrace) takePhases(p *store.Phases) {
	if !t.noted {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(w *wirePhases) bool {
		phases, ok := w.end()
		if ok {
			p.Merge(phases)
		}
		return ok
	})
}

func (w *wirePhases) clientTrace() *httptrace.ClientTrace {
	if w == nil {
		return &httptrace.ClientTrace{}
	}
	return w.hooks()
}

// watch adds the hooks for the phases after the connection.
func (w *wirePhases) watch(hooks *httptrace.ClientTrace) {
	if w == nil || !w.all {
		return
	}
	first := hooks.GotFirstResponseByte
	hooks.GotConn = func(httptrace.GotConnInfo) { w.note(func(now time.Duration) { w.sending = now }) }
	hooks.WroteRequest = func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			w.note(func(now time.Duration) { w.sent = now })
		}
	}
	hooks.GotFirstResponseByte = func() {
		w.note(func(now time.Duration) { w.answered = now })
		first()
	}
}

// uploaded replaces the time at which the request was sent by the time at which its payload was
// sent.
func (w *wirePhases) uploaded(last int64) {
	if w != nil && last > 0 {
		w.note(func(time.Duration) { w.sent = min(time.Duration(last), w.answered) })
	}
}

// answer records when the answer is complete.
func (w *wirePhases) answer(resp *http.Response) {
	switch {
	case w == nil:
	case resp == nil, !w.all, resp.Body == nil, resp.Body == http.NoBody:
		w.finish()
	default:
		resp.Body = &WatchedBody{ReadCloser: resp.Body, End: w.finish}
	}
}

// WatchDial returns a context under which the phases of a new connection are recorded in t, and a
// function to call once it is connected.
func WatchDial(ctx context.Context, t *store.Trace) (context.Context, func()) {
	if t.Phases() == nil {
		return ctx, func() {}
	}
	w := &wirePhases{base: t.Base()}
	return httptrace.WithClientTrace(ctx, w.hooks()), func() {
		w.finish()
		phases, _ := w.end()
		t.Phases().Merge(phases)
	}
}

// A WatchedBody calls End when the body has been read or is closed.
type WatchedBody struct {
	io.ReadCloser
	once sync.Once
	End  func()
}

func (a *WatchedBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.once.Do(a.End)
	}
	return n, err
}

func (a *WatchedBody) Close() error {
	defer a.once.Do(a.End) // after the answers within it have ended
	return a.ReadCloser.Close()
}
