package fleet

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/fleet/protocol"
	"warp/pkg/fleet/transport"
)

// A web server's answer is the last word, unless clients are still being started.
func TestAnswerOfNoClient(t *testing.T) {
	t.Parallel()
	for name, starting := range map[string]bool{"clients are there": false, "clients are being started": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked atomic.Int32
			web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				if asked.Add(1) == 3 {
					cancel()
				}
			}))
			t.Cleanup(web.Close)
			f := lead(t, func(o *Options) {
				o.ConnectTimeout, o.Starting = time.Hour, starting
				o.Members = []Member{{Addr: web.Listener.Addr().String()}}
			})
			err := f.Connect(ctx)
			if final := errors.Is(err, transport.ErrNotWarp) && asked.Load() == 1; final == starting {
				t.Errorf("%v after %d answers", err, asked.Load())
			}
			check.OK(t, f.Abort(t.Context(), err))
			_, err = lead(t, func(o *Options) {
				o.ConnectTimeout, o.Starting = time.Hour, starting
				o.Members = []Member{{Addr: web.Listener.Addr().String()}}
			}).Collect(ctx, "", nil)
			if final := errors.Is(err, transport.ErrNotWarp) && asked.Load() == 2; final == starting {
				t.Errorf("collect: %v after %d answers", err, asked.Load())
			}
		})
	}
}

// A machine that is listed by two of its names has one share only. If the coordinator gives up before it has heard that the first
// name was admitted, the machine is free after its timeout.
func TestTwoNamesOfOneClient(t *testing.T) {
	t.Parallel()
	m := startMachine(t, shortTimeout)
	_, port, err := net.SplitHostPort(m.addr)
	check.OK(t, err)
	f := lead(t, func(o *Options) { o.Members = []Member{{Addr: m.addr}, {Addr: "localhost:" + port}} })
	err = f.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it is part of this run already") {
		t.Errorf("%v", err)
	}
	check.OK(t, f.Abort(t.Context(), err))
	m.waitUntilFree(t)
}

// The answer to the first message of a run may get lost; the run is the coordinator's all the same.
func TestLostAdmission(t *testing.T) {
	t.Parallel()
	m := startMachine(t, nil)
	f := lead(t, nil, m)
	ch, err := f.dialer.Connect(t.Context(), m.addr, nil, 10*time.Second)
	check.OK(t, err)
	_, err = requestAttach(ch, protocol.AttachRequest{Purpose: protocol.ForRun, Run: f.options.Run, Client: f.links[0].id, Key: f.key})
	check.OK(t, err)
	ch.Close() // before the link has heard of it
	check.OK(t, f.Connect(t.Context()))
	check.OK(t, f.Abort(t.Context(), nil))
	m.waitUntilFree(t)
}
