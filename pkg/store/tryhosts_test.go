package store

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// refusing is an address at which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

// Any answer is one, be it an error; no connection, and a connection that is closed at once, are none.
func TestTryHosts(t *testing.T) {
	t.Parallel()
	good := httptest.NewServer(answer(404, nil, ""))
	t.Cleanup(good.Close)
	busy := httptest.NewServer(answer(503, nil, slowDown))
	t.Cleanup(busy.Close)
	hangsUp := oddStore(t, func(*net.TCPConn, *bufio.Reader) {})
	silent := refusing(t)
	hosts := []string{good.Listener.Addr().String(), silent, busy.Listener.Addr().String(), hangsUp}
	c, err := New(Config{Hosts: Addresses(hosts), Region: "us-east-1", Credentials: credentials.NewStaticV4("k", "s", "")})
	if err != nil {
		t.Fatal(err)
	}
	dead := c.TryHosts(t.Context(), "bucket")
	if len(dead) != 2 || dead[0].Endpoint != "http://"+silent || CodeOf(dead[0].Err) != CodeRefused || dead[1].Endpoint != "http://"+hangsUp {
		t.Fatalf("dead are %v", dead)
	}
	if err := DeadHostsError(dead[:1], 4); !strings.Contains(err.Error(), silent+" of 4 does not answer: ConnectionRefused") {
		t.Error(err)
	}
}

// A host that refuses connections looks as if it had nothing to do. It gets a request now and then, and its share once
// it is there again.
func TestSelectorLetsDeadHostsRest(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		synctest.Test(t, func(t *testing.T) {
			s := mustSelector(t, strategy, 3)
			alive := false
			requests := make([]int, 3)
			run := func(d time.Duration) []int {
				clear(requests)
				for end := time.Now().Add(d); time.Now().Before(end); {
					h := s.Acquire()
					requests[h]++
					if h == 0 && !alive {
						s.Refuse(h)
						continue
					}
					time.Sleep(time.Millisecond)
					s.Release(h)
				}
				return requests
			}
			if run(20 * time.Second); requests[0] > 12 || requests[0] < 6 || requests[1] < 9000 || requests[2] < 9000 {
				t.Errorf("%s: of three hosts the first of which is dead they got %v", strategy, requests)
			}
			alive = true
			run(15 * time.Second)
			if run(3 * time.Second); requests[0] < 900 {
				t.Errorf("%s: back again, it gets %v", strategy, requests)
			}
		})
	}
}

// Where all hosts are dead, each is tried, so that the errors are those of all of them.
func TestSelectorOfDeadHosts(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"weighed", "roundrobin"} {
		s := mustSelector(t, strategy, 3)
		var requests [3]int
		for range 300 {
			h := s.Acquire()
			requests[h]++
			s.Refuse(h)
		}
		if min(requests[0], requests[1], requests[2]) < 50 {
			t.Errorf("%s: dead hosts got %v", strategy, requests)
		}
	}
}

// A client counts what a host refuses, and sends the rest elsewhere.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	good := httptest.NewServer(answer(200, goodHeader, ""))
	t.Cleanup(good.Close)
	dead := refusing(t)
	c, err := New(Config{Hosts: Addresses([]string{dead, good.Listener.Addr().String()}), Region: "us-east-1", Credentials: credentials.NewStaticV4("k", "s", "")})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 200 {
		err := c.Use(func(h *Host) error {
			_, err := h.Stat(context.Background(), Ref{"bucket", "key", ""}, NewTrace(time.Now()))
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
