package conformance

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// A special is an operation that not every store can do.
type special struct {
	name    string
	args    []string
	rows    map[string]int                  // operations of the measured run, and how many requests a row of each is
	can     func(*teststore.Store) bool     // whether the store does it
	feature string                          // what the refusal says is missing
	also    func(t *testing.T, h history)   // what else must be true of the log
	wire    func(t *testing.T, seen []sent) // and of the requests within the rows' time
}

func always(*teststore.Store) bool { return true }

func specials() []special {
	return []special{
		{
			name: "tagging", args: []string{"tagging", "--objects=20", "--obj.size=1KiB", "--concurrent=4"},
			rows:    map[string]int{"PUTTAGS": 1, "GETTAGS": 1, "DELETETAGS": 1},
			can:     func(s *teststore.Store) bool { return s.Can.Tags },
			feature: "object tags",
		},
	}
}

// A sent is a request on an object, as the proxy saw it.
type sent struct {
	op, key string
	query   url.Values
	teststore.Seen
}

// specialOp tells which operation a request on an object belongs to.
func specialOp(method string, q url.Values, h map[string][]string) string {
	if q.Has("tagging") {
		return map[string]string{"PUT": "PUTTAGS", "GET": "GETTAGS", "DELETE": "DELETETAGS"}[method]
	}
	return map[string]string{"GET": "GET", "PUT": "PUT", "HEAD": "STAT"}[method]
}

// sentWithin are the requests on objects that began while rows of their operation were under way: what is tried
// before the run, and clean-up, are not the run's.
func sentWithin(p *teststore.Proxy, h history) (all []sent) {
	for _, s := range p.Requests(nil) {
		_, key, _ := strings.Cut(strings.TrimPrefix(s.Path, "/"), "/")
		key, _ = url.PathUnescape(key)
		q, _ := url.ParseQuery(s.Query)
		if key == "" || strings.HasPrefix(key, ".warp/") {
			continue
		}
		op, at := specialOp(s.Method, q, s.Header), s.Start.UnixNano()
		if rows := h.of(op); len(rows) > 0 {
			from, to := rows[0].Start, rows[0].End()
			for _, r := range rows {
				from, to = min(from, r.Start), max(to, r.End())
			}
			if at >= from && at <= to {
				all = append(all, sent{op, key, q, s})
			}
		}
	}
	return all
}

// agreeOn wants the log to say of every operation what the wire says, and each row to be as many requests as the
// documentation says.
func (c special) agreeOn(t *testing.T, h history, seen []sent) {
	t.Helper()
	for op, each := range c.rows {
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
		if log.requests != wire.requests || !maps.Equal(log.statuses, wire.statuses) || !maps.Equal(log.keys, wire.keys) {
			t.Errorf("%s: the log says %s of %d objects, the wire %s of %d", op, log.text(), len(log.keys), wire.text(), len(wire.keys))
		}
	}
}

// statusClass is 2 for 200 and 204 alike: a row of several requests has the status of its last one.
func statusClass(status int) int { return status / 100 }

// TestSpecials runs operations that not every store can do: they work, and what the store saw is what the log says,
// or the store is refused before the run in one line, with nothing left behind.
func TestSpecials(t *testing.T) {
	t.Parallel()
	for _, name := range teststore.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, name)
			for _, c := range specials() {
				for _, engine := range []string{"lean", "minio"} {
					t.Run(c.name+"/"+engine, func(t *testing.T) { c.run(t, s, engine) })
				}
			}
		})
	}
}

func (c special) run(t *testing.T, s *teststore.Store, engine string) {
	var b *bed
	var o outcome
	var log string
	for _, d := range durations {
		b = newBed(t, s)
		o, log = b.run(append(append(c.args[:1:1], "--engine="+engine, d, "--json"), c.args[1:]...)...)
		if o.code != 0 || !c.can(s) || c.enough(readLog(t, log)) {
			break
		}
		b.clean(t)
	}
	if !c.can(s) {
		if o.code != 1 {
			t.Errorf("exit %d, want 1: %s", o.code, o)
		}
		refused(t, b, o, c.feature)
		return
	}
	o.want(t, 0).sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	if n := errorsIn(h.rows); n > 0 || len(h.warnings) > 0 || h.trailer.End != "completed" {
		t.Fatalf("%d requests failed, the log ends %q, with warnings %q: %s", n, h.trailer.End, h.warnings, o)
	}
	seen := sentWithin(b.proxy, h)
	c.agreeOn(t, h, seen)
	if c.also != nil {
		c.also(t, h)
	}
	if c.wire != nil {
		c.wire(t, seen)
	}
	b.clean(t)
}

func (c special) enough(h history) bool {
	for op := range c.rows {
		if len(h.of(op)) < 3 {
			return false
		}
	}
	return true
}
