package sink

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
)

// Strangers who begin requests and do not finish them neither block Prometheus nor use more than a
// limited number of file descriptors, which the benchmark needs.
func TestStrangersAtTheMetrics(t *testing.T) {
	t.Parallel()
	p := NewPrometheus("get", NewMetrics("c").Clients)
	addr, err := p.Serve("127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { p.End(t.Context()) })
	var open atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		c, err := net.Dial("tcp", addr.String())
		check.OK(t, err)
		open.Add(1)
		all.Go(func() {
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write([]byte("GET /metrics HTTP/1.1\r\nHost: x\r\nX-"))
			_, _ = io.Copy(io.Discard, c)
			open.Add(-1)
		})
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + addr.String() + "/metrics")
	check.OK(t, err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
	if n := open.Load(); n > maxScrapers {
		t.Errorf("%d strangers are connected", n)
	}
	all.Wait() // the time limit for a head has passed
}
