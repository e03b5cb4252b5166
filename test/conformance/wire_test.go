package conformance

import (
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// A tally counts one kind of operation.
type tally struct {
	requests int
	bytes    int64
	statuses map[int]int    // by HTTP status
	keys     map[string]int // requests by object
}

func newTally() *tally { return &tally{statuses: map[int]int{}, keys: map[string]int{}} }

// tallies are by operation, with the names in the log.
type tallies map[string]*tally

func (all tallies) of(op string) *tally {
	if all[op] == nil {
		all[op] = newTally()
	}
	return all[op]
}

// measuredOp returns the operation that a request belongs to, or "" for bookkeeping, which is about
// markers and the bucket itself.
func measuredOp(s *teststore.Seen) (op, key string) {
	_, key, _ = strings.Cut(strings.TrimPrefix(s.Path, "/"), "/")
	key, _ = url.PathUnescape(key)
	q, _ := url.ParseQuery(s.Query)
	switch {
	case strings.HasPrefix(key, ".warp/"):
		return "", key
	case key != "":
		return map[string]string{"GET": "GET", "PUT": "PUT", "HEAD": "STAT", "DELETE": "DELETE"}[s.Method], key
	case s.Method == "POST" && q.Has("delete"):
		return "DELETE", ""
	case s.Method == "GET" && (q.Has("list-type") || q.Has("versions")):
		return "LIST", q.Get("prefix")
	}
	return "", ""
}

// payload returns how many bytes of an object were sent, without the framing of signed chunks.
func payload(s *teststore.Seen) int64 {
	if s.Method != "PUT" {
		return s.BytesOut
	}
	if n, err := strconv.ParseInt(s.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err == nil {
		return n
	}
	return s.BytesIn
}

// onWire counts the requests of a run at the proxy. Clean-up and the checks before a run also list
// and delete, so these requests count only during the rows of the log. Only the run itself gets,
// puts and stats objects.
func onWire(p *teststore.Proxy, h history) tallies {
	type span struct{ from, to int64 }
	spans := map[string]span{}
	for _, r := range h.rows {
		s, ok := spans[r.Op]
		if !ok {
			s = span{r.Start, r.End()}
		}
		spans[r.Op] = span{min(s.from, r.Start), max(s.to, r.End())}
	}
	all := tallies{}
	for _, s := range p.Requests(nil) {
		op, key := measuredOp(&s)
		if op == "" {
			continue
		}
		at := s.Start.UnixNano()
		if (op == "LIST" || op == "DELETE") && (at < spans[op].from || at > spans[op].to) {
			continue
		}
		w := all.of(op)
		w.requests++
		w.statuses[s.Status]++
		if op == "GET" || op == "PUT" {
			w.bytes += payload(&s)
		}
		if op != "DELETE" {
			w.keys[key]++
		}
	}
	return all
}

// inLog counts the rows of the log.
func inLog(h history) tallies {
	all := tallies{}
	for _, r := range h.rows {
		l := all.of(r.Op)
		l.requests += int(r.Requests)
		l.bytes += r.Bytes
		l.statuses[int(r.Status)] += int(r.Requests) // all pages of a listing have the status of the last
		if r.Op != "DELETE" {                        // a batch has many objects
			l.keys[r.Key] += int(r.Requests)
		}
	}
	return all
}

// agree checks that wire and log of a run without faults agree. It first subtracts the uploads of
// mixed's preparation, which are not in the log.
func agree(t *testing.T, p *teststore.Proxy, h history) {
	t.Helper()
	wire, log := onWire(p, h), inLog(h)
	if h.header.Benchmark == "mixed" {
		preparedFor(t, wire.of("PUT"), log.of("PUT"), h)
	}
	for op := range log {
		wire.of(op)
	}
	for op, w := range wire {
		if got, want := log.of(op).text(), w.text(); got != want {
			t.Errorf("%s: the log says %s, the wire %s", op, got, want)
		}
		if !maps.Equal(log.of(op).keys, w.keys) {
			t.Errorf("%s: the log has other objects than the wire:\n%v\n%v", op, log.of(op).keys, w.keys)
		}
	}
}

func (w *tally) text() string {
	return fmt.Sprintf("%d requests, %d bytes, statuses %v", w.requests, w.bytes, w.statuses)
}

// preparedFor subtracts the uploads of mixed's preparation from the wire: each object once, all of
// one size.
func preparedFor(t *testing.T, wire, log *tally, h history) {
	t.Helper()
	prepared := 0
	for key := range wire.keys {
		if log.keys[key] == 0 {
			delete(wire.keys, key)
			prepared++
		}
	}
	if want := h.header.Parameters["objects"]; strconv.Itoa(prepared) != want {
		t.Errorf("preparation uploaded %d objects, want %s", prepared, want)
	}
	for _, r := range h.rows {
		if r.Op == "PUT" || r.Op == "GET" {
			wire.bytes -= int64(prepared) * r.Bytes
			break
		}
	}
	wire.requests -= prepared
	if wire.statuses[200] -= prepared; wire.statuses[200] == 0 {
		delete(wire.statuses, 200)
	}
}
