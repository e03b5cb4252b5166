package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// An ownAPI is a store without S3, and functions to inspect it directly.
type ownAPI struct {
	store, title string   // its name in teststore, and in warp's messages
	lacks        []string // rows of the matrix that warp rejects without a request
	noVersions   string   // warp's error about versions, if it needs a request
	// bed returns a separate store for a run; nil = runs share the store of that name.
	bed func(t *testing.T) *bed
	// versioned makes a bucket with versions, as far as the store supports them; nil = it does not.
	versioned func(t *testing.T, b *bed)
	// keys returns the names of all objects, including incomplete uploads; ok is false if the
	// bucket does not exist.
	keys func(t *testing.T, b *bed) (names []string, ok bool)
	// op returns the operation that a request belongs to, or "" if it is not measured, and its
	// object.
	op func(s *teststore.Seen) (op, key string)
}

// ownAPIs lists the stores without S3.
func ownAPIs() []*ownAPI { return []*ownAPI{gcs(), azurite(), aistore()} }

// open returns a bed in the store.
func (a *ownAPI) open(t *testing.T) *bed {
	t.Helper()
	if a.bed != nil {
		return a.bed(t)
	}
	return newOwnBed(t, stores.Shared(t, a.store))
}

func newOwnBed(t *testing.T, s *teststore.Store) *bed {
	t.Helper()
	return &bed{store: s, proxy: teststore.NewProxy(t, s.Endpoint), dir: t.TempDir(), bucket: fmt.Sprintf("conformance-%d", buckets.Add(1))}
}

// runOwn runs a benchmark in a store without S3.
func (b *bed) runOwn(args ...string) (outcome, string) {
	b.runs++
	data := fmt.Sprintf("%s/run%d", b.dir, b.runs)
	line := append([]string{args[0], "--provider=" + b.store.Provider, "--host=http://" + b.proxy.Endpoint + b.store.Path,
		"--bucket=" + b.bucket, "--benchdata=" + data}, args[1:]...)
	return measured(func() outcome { b.forget(); return warp(line...) }), data + ".csv.zst"
}

// received returns the requests so far, to all hosts of the store.
func (b *bed) received() []teststore.Seen {
	all := b.proxy.Requests(nil)
	for _, node := range b.nodes {
		all = append(all, node.Requests(nil)...)
	}
	return all
}

func (b *bed) forget() {
	b.proxy.Forget()
	for _, node := range b.nodes {
		node.Forget()
	}
}

// agree checks that log and wire agree about each operation: the number of requests, the objects,
// and the number of bytes.
func (a *ownAPI) agree(t *testing.T, b *bed, h history, ops []string) {
	t.Helper()
	for _, op := range ops {
		rows := h.of(op)
		if op == "UPLOAD" || len(rows) == 0 {
			continue // begin, end and parts are checked separately
		}
		from, to, requests, keys := rows[0].Start, rows[0].End(), 0, map[string]int{}
		bytes := int64(0)
		for _, r := range rows {
			from, to = min(from, r.Start), max(to, r.End())
			requests += int(r.Requests)
			keys[r.Key]++
			bytes += r.Bytes
			if r.Status/100 != 2 {
				t.Errorf("%s: a row has status %d", op, r.Status)
			}
		}
		seen, carried := 0, int64(0)
		for _, s := range b.received() {
			sent, key := a.op(&s)
			if sent == "PUTPART" && len(h.of(sent)) == 0 {
				sent = "PUT" // parts of one object, as preparation
			}
			at := s.Start.UnixNano()
			if sent != op || at < from || at > to || strings.HasPrefix(key, ".warp/") || key != "" && keys[key] == 0 {
				continue
			}
			seen++
			if s.Status/100 == 3 {
				continue // bytes sent with a redirected request are not payload
			}
			carried += map[bool]int64{true: s.BytesOut, false: s.BytesIn}[op == "GET"]
		}
		if seen != requests {
			t.Errorf("%s: the log has %d requests, the wire %d", op, requests, seen)
		}
		if slices.Contains([]string{"GET", "PUT", "PUTPART", "APPEND"}, op) && carried != bytes {
			t.Errorf("%s: the log has %d bytes, the wire %d", op, bytes, carried)
		}
	}
}

// onOwnAPI runs a row of the matrix, and returns the result.
func (f feature) onOwnAPI(t *testing.T, a *ownAPI) string {
	b := a.open(t)
	if slices.Contains(a.lacks, f.name) {
		o, _ := b.runOwn(append(f.args, "--duration=1s")...)
		line := o.want(t, 2).says(t, "which "+a.title+" lacks")
		if n := len(b.received()); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
		return b.anonymous(line)
	}
	switch f.name {
	case "versioned":
		if a.versioned != nil {
			a.versioned(t, b)
		}
		o, _ := b.runOwn(append(f.args, "--duration=1s")...)
		if names, _ := a.keys(t, b); len(names) > 0 {
			t.Errorf("left behind are %q", names)
		}
		return b.anonymous(o.want(t, 1).says(t, a.noVersions))
	case "append":
		f.ops = []string{"APPEND"}
	}
	j := job{args: f.args, ops: f.ops}
	var o outcome
	var log string
	for _, d := range durations {
		if f.name == "delete" {
			d = "--duration=2m"
		}
		if o, log = b.runOwn(append(j.args[:len(j.args):len(j.args)], d)...); o.code != 0 || j.enough(readLog(t, log), false) {
			break
		}
	}
	o.want(t, 0).sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	j.check(t, o, h)
	a.agree(t, b, h, j.ops)
	if names, ok := a.keys(t, b); !ok || len(names) > 0 {
		t.Errorf("bucket %v, left behind are %q", ok, names)
	}
	t.Logf("works: %s", summary(h))
	return works
}
