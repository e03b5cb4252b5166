package teststore

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"warp/internal/check"

	"github.com/minio/minio-go/v7"
)

// overMinIO returns a proxy in front of a store that checks signatures, with a bucket and an
// object.
func overMinIO(t *testing.T) (*Proxy, *minio.Core) {
	t.Helper()
	s := Start(t, MinIO, Options{})
	p := NewProxy(t, s.Endpoint)
	c := client(t, s, p.Endpoint)
	roundTrip(t, c, s.Region, "warp-test")
	c.TraceOff()
	return p, &minio.Core{Client: c}
}

func get(c *minio.Core, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// Core does not repeat a download that fails midway.
	body, _, _, err := c.GetObject(ctx, "warp-test", key, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func TestProxy(t *testing.T) {
	p, c := overMinIO(t)
	t.Run("records", func(t *testing.T) { proxyRecords(t, p, c) })
	t.Run("faults", func(t *testing.T) { proxyFaults(t, p, c) })
	t.Run("counts its hits", func(t *testing.T) { proxyHits(t, p) })
	t.Run("freezes", func(t *testing.T) {
		p.Inject()
		begin := time.Now()
		p.Freeze(300 * time.Millisecond)
		if _, err := get(c, "a/key"); err != nil || time.Since(begin) < 300*time.Millisecond {
			t.Errorf("answered after %s, %v", time.Since(begin), err)
		}
	})
}

// proxyRecords uses a key that clients escape differently. MinIO accepts it only with a valid
// signature.
func proxyRecords(t *testing.T, p *Proxy, c *minio.Core) {
	p.Forget()
	key := "söme dir/a+b (1)~'!*%41"
	_, err := c.Client.PutObject(t.Context(), "warp-test", key, strings.NewReader("body"), 4, minio.PutObjectOptions{})
	check.OK(t, err)
	if got, err := get(c, key); string(got) != "body" || err != nil {
		t.Fatalf("got %q, %v", got, err)
	}
	puts := p.Requests(func(s *Seen) bool { return s.Method == http.MethodPut })
	if len(puts) != 1 || p.Count("GET") != 1 || puts[0].Status != 200 || puts[0].BytesIn < 4 ||
		!strings.HasPrefix(puts[0].Path, "/warp-test/s%C3%B6me%20dir/") || puts[0].Header.Get("Authorization") == "" {
		t.Errorf("recorded %+v", puts)
	}
}

func proxyFaults(t *testing.T, p *Proxy, c *minio.Core) {
	whole := bytes.Repeat([]byte("warp"), 10_000)
	for name, tc := range map[string]struct {
		fault Fault
		fails bool
		bytes int
	}{
		"delay":          {Fault{Delay: 200 * time.Millisecond}, false, len(whole)},
		"truncate":       {Fault{Truncate: 10}, true, len(whole) - 10},
		"corrupt":        {Fault{Corrupt: true}, false, len(whole)},
		"flip":           {Fault{Flip: true, FlipAt: 33_333}, false, len(whole)},
		"reset":          {Fault{Reset: true, Times: 1}, false, len(whole)}, // the client repeats it
		"reset midway":   {Fault{ResetAfter: 1000}, true, -1},
		"length too big": {Fault{ExtraLength: 5}, false, len(whole) + 5},
		"etag":           {Fault{ETag: `"0123"`}, false, len(whole)},
		"not found":      {Fault{Status: 404, Code: "NoSuchKey"}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tc.fault.Match = OnObject(http.MethodGet)
			p.Inject(&tc.fault)
			p.Forget()
			begin := time.Now()
			got, err := get(c, "a/key")
			if (err != nil) != tc.fails || tc.bytes >= 0 && len(got) != tc.bytes {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if p.Hits() == 0 || time.Since(begin) < tc.fault.Delay {
				t.Errorf("%d hits in %s", p.Hits(), time.Since(begin))
			}
			if same := bytes.Equal(got, whole); (tc.fault.Corrupt || tc.fault.Flip) == same && tc.bytes == len(whole) {
				t.Errorf("body as stored: %v", same)
			}
		})
	}
}

func proxyHits(t *testing.T, p *Proxy) {
	p.Inject(&Fault{Match: OnObject(http.MethodGet), Every: 10, Status: 503}, &Fault{Every: 50, Of: 2, Status: 404, Code: "X"})
	p.Forget()
	for range 100 {
		resp, err := http.Get("http://" + p.Endpoint + "/warp-test/a/key")
		check.OK(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	count := map[int]int{}
	for _, s := range p.Requests(nil) {
		count[s.Status]++
	}
	// The second fault sees the 90 requests that the first does not hit, so its cycle of fifty is
	// completed once.
	if count[503] != 10 || count[404] != 2 || p.Hits() != 12 {
		t.Errorf("statuses %v, %d hits; want 10 of 503 and 2 of 404", count, p.Hits())
	}
}
