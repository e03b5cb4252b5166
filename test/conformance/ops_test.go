package conformance

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// A sent is a request about an object, as the proxy saw it.
type sent struct {
	op, key string
	teststore.Seen
}

// specialOp returns the operation that a request about an object belongs to.
func specialOp(method string, q url.Values, h http.Header) string {
	if q.Has("tagging") {
		return map[string]string{"PUT": "PUTTAGS", "GET": "GETTAGS", "DELETE": "DELETETAGS"}[method]
	}
	copied, parts := h.Get("X-Amz-Copy-Source") != "", q.Has("uploads") || q.Has("uploadId")
	switch {
	case h.Get("X-Amz-Write-Offset-Bytes") != "":
		return "APPEND"
	case q.Has("partNumber") && q.Has("uploadId") && copied:
		return "COPYPART"
	case q.Has("partNumber") && q.Has("uploadId"):
		return "PUTPART"
	case parts:
		return "UPLOAD"
	case copied:
		return "COPY"
	}
	return map[string]string{"GET": "GET", "PUT": "PUT", "HEAD": "STAT"}[method]
}

// sentWithin returns the requests about objects that began while rows of their operation were
// running. This excludes trials before the run, and clean-up.
func sentWithin(p *teststore.Proxy, h history) (all []sent) {
	for _, s := range p.Requests(nil) {
		_, key, _ := strings.Cut(strings.TrimPrefix(s.Path, "/"), "/")
		key, _ = url.PathUnescape(key)
		q, _ := url.ParseQuery(s.Query)
		if key == "" || strings.HasPrefix(key, ".warp/") {
			continue
		}
		op, at := specialOp(s.Method, q, s.Header), s.Start.UnixNano()
		if op == "UPLOAD" && len(h.of(op)) == 0 {
			op = "COPY" // in parts
		}
		if rows := h.of(op); len(rows) > 0 {
			from, to := rows[0].Start, rows[0].End()
			for _, r := range rows {
				from, to = min(from, r.Start), max(to, r.End())
			}
			if at >= from && at <= to {
				all = append(all, sent{op, key, s})
			}
		}
	}
	return all
}

// rowsAre checks that log and wire agree about every operation, and that each row consists of as
// many requests as documented.
func rowsAre(documented map[string]int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		t.Helper()
		seen := sentWithin(b.proxy, h)
		for op, each := range documented {
			log, wire := newTally(), newTally()
			for _, r := range h.of(op) {
				log.requests += int(r.Requests)
				log.statuses[statusClass(int(r.Status))] += int(r.Requests)
				log.keys[r.Key] += int(r.Requests)
				if int(r.Requests) != each {
					t.Errorf("%s: a row of %d requests, documented are %d", op, r.Requests, each)
				}
			}
			for _, s := range seen {
				if s.op == op {
					wire.requests++
					wire.statuses[statusClass(s.Status)]++
					wire.keys[s.key]++
				}
			}
			if log.requests == 0 {
				t.Errorf("%s: no rows", op)
			}
			if !maps.Equal(log.statuses, wire.statuses) || !maps.Equal(log.keys, wire.keys) {
				t.Errorf("%s: the log says %s of %d objects, the wire %s of %d", op, log.text(), len(log.keys), wire.text(), len(wire.keys))
			}
		}
	}
}

// statusClass returns 2 for both 200 and 204, because a row of several requests has the status of
// the last one.
func statusClass(status int) int { return status / 100 }
