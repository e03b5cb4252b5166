package engines

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
)

// refusing returns an address at which nothing listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	l.Close()
	return l.Addr().String()
}

// Any answer counts, even an error. A failed connection or one that is closed at once does not.
func TestTryHosts(t *testing.T) {
	t.Parallel()
	good := httptest.NewServer(answer(404, nil, ""))
	t.Cleanup(good.Close)
	busy := httptest.NewServer(answer(503, nil, slowDown))
	t.Cleanup(busy.Close)
	hangsUp := oddStore(t, func(*net.TCPConn, *bufio.Reader) {})
	silent := refusing(t)
	hosts := []string{good.Listener.Addr().String(), silent, busy.Listener.Addr().String(), hangsUp}
	c, err := New(store.Config{Hosts: store.Addresses(hosts), Region: "us-east-1", Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}})
	check.OK(t, err)
	dead := c.TryHosts(t.Context(), "bucket")
	if len(dead) != 2 || dead[0].Endpoint != "http://"+silent || store.CodeOf(dead[0].Err) != store.CodeRefused || dead[1].Endpoint != "http://"+hangsUp {
		t.Fatalf("dead are %v", dead)
	}
	if err := store.DeadHostsError(dead[:1], 4); !strings.Contains(err.Error(), silent+" of 4 does not answer: ConnectionRefused") {
		t.Error(err)
	}
}

// A client counts the connections that a host refuses, and sends the other requests elsewhere.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	good := httptest.NewServer(answer(200, goodHeader, ""))
	t.Cleanup(good.Close)
	dead := refusing(t)
	c, err := New(store.Config{Hosts: store.Addresses([]string{dead, good.Listener.Addr().String()}), Region: "us-east-1", Credentials: store.Keys{AccessKey: "k", SecretKey: "s"}})
	check.OK(t, err)
	failed := 0
	for range 200 {
		err := c.Use(func(h *store.Host) error {
			_, err := h.Stat(context.Background(), store.Ref{Bucket: "bucket", Key: "key"}, store.NewTrace(time.Now()))
			return err
		})
		if err != nil {
			failed++
		}
	}
	refused := c.Refused()
	if failed == 0 || failed > 10 || fmt.Sprint(refused) != fmt.Sprintf("map[http://%s:%d]", dead, failed) {
		t.Errorf("%d of 200 requests failed, refused are %v", failed, refused)
	}
}
