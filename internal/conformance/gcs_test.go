package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warp/internal/teststore"
)

// A gcsBed is a bed in Google Cloud Storage, or what is one for tests.
type gcsBed struct{ *bed }

func newGCSBed(t *testing.T, s *teststore.Store) *gcsBed {
	t.Helper()
	return &gcsBed{&bed{store: s, proxy: teststore.NewProxy(t, s.Endpoint), dir: t.TempDir(), bucket: fmt.Sprintf("conformance-%d", buckets.Add(1))}}
}

// api sends a request past warp and the proxy. into takes the answer, unless it is nil.
func (b *gcsBed) api(t *testing.T, method, target, body string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.store.Endpoint+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if into != nil && resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// keys are the names of all objects; ok is false where there is no bucket.
func (b *gcsBed) keys(t *testing.T) (names []string, ok bool) {
	t.Helper()
	var page struct{ Items []struct{ Name string } }
	if b.api(t, http.MethodGet, "/storage/v1/b/"+b.bucket+"/o", "", &page) != http.StatusOK {
		return nil, false
	}
	for _, item := range page.Items {
		names = append(names, item.Name)
	}
	return names, true
}

func (b *gcsBed) runs(args ...string) (outcome, string) {
	b.bed.runs++
	data := fmt.Sprintf("%s/run%d", b.dir, b.bed.runs)
	line := append([]string{args[0], "--provider=gcs", "--host=http://" + b.proxy.Endpoint, "--bucket=" + b.bucket, "--benchdata=" + data}, args[1:]...)
	return measured(func() outcome { b.proxy.Forget(); return warp(line...) }), data + ".csv.zst"
}

// gcsOp tells which operation a request on an object belongs to, and which object it is.
func gcsOp(s *teststore.Seen) (op, key string) {
	q, _ := url.ParseQuery(s.Query)
	_, rest, _ := strings.Cut(s.Path, "/o/")
	escaped, action, _ := strings.Cut(rest, "/")
	key, _ = url.PathUnescape(escaped)
	switch {
	case strings.HasPrefix(s.Path, "/upload/") && strings.Count(q.Get("name"), "/") >= 3 && strings.HasPrefix(q.Get("name"), ".warp/uploads/"):
		return "PUTPART", ""
	case strings.HasPrefix(s.Path, "/upload/"):
		return "PUT", q.Get("name")
	case strings.HasPrefix(s.Path, "/batch/"):
		return "DELETE", ""
	case strings.HasSuffix(s.Path, "/o"):
		return "LIST", ""
	case strings.HasPrefix(action, "rewriteTo/"):
		_, to, _ := strings.Cut(action, "/o/")
		key, _ = url.PathUnescape(to)
		return "COPY", key
	case action == "compose":
		return "UPLOAD", key
	case s.Method == http.MethodDelete:
		return "DELETE", key
	case q.Get("alt") == "media":
		return "GET", key
	}
	return "STAT", key
}

// agreeGCS wants log and wire to say the same of each operation: how many requests, on which objects, and how many bytes.
func agreeGCS(t *testing.T, b *gcsBed, h history, ops []string) {
	t.Helper()
	for _, op := range ops {
		rows := h.of(op)
		if op == "UPLOAD" || len(rows) == 0 {
			continue // begin, end and parts are looked at by themselves
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
		for _, s := range b.proxy.Requests(nil) {
			sent, key := gcsOp(&s)
			if sent == "PUTPART" && len(h.of(sent)) == 0 {
				sent = "PUT" // parts of one object, to prepare
			}
			at := s.Start.UnixNano()
			if sent != op || at < from || at > to || strings.HasPrefix(key, ".warp/") || key != "" && keys[key] == 0 {
				continue
			}
			seen++
			carried += map[bool]int64{true: s.BytesOut, false: s.BytesIn}[op == "GET"]
		}
		if seen != requests {
			t.Errorf("%s: the log has %d requests, the wire %d", op, requests, seen)
		}
		if (op == "GET" || op == "PUT" || op == "PUTPART") && carried != bytes {
			t.Errorf("%s: the log has %d bytes, the wire %d", op, bytes, carried)
		}
	}
}

// onGCS runs a row of the matrix, and returns what became of it.
func (f feature) onGCS(t *testing.T, s *teststore.Store) string {
	lacking := map[string]bool{"put --post": true, "retention": true, "append": true, "zip": true, "snowball": true, "fanout": true, "tagging": true}
	b := newGCSBed(t, s)
	if lacking[f.name] {
		o, _ := b.runs(append(f.args, "--duration=1s")...)
		line := o.want(t, 2).says(t, "Google Cloud Storage lacks")
		if n := len(b.proxy.Requests(nil)); n > 0 {
			t.Errorf("%d requests were sent", n)
		}
		return b.anonymous(line)
	}
	if f.name == "versioned" { // it deletes the latest, whichever it is asked for, which warp finds out
		b.api(t, http.MethodPost, "/storage/v1/b?project=p", `{"name":"`+b.bucket+`"}`, nil)
		b.api(t, http.MethodPatch, "/storage/v1/b/"+b.bucket, `{"versioning":{"enabled":true}}`, nil)
		o, _ := b.runs(append(f.args, "--duration=1s")...)
		return b.anonymous(o.want(t, 1).says(t, f.word))
	}
	j := job{args: f.args, ops: f.ops}
	var o outcome
	var log string
	for _, d := range durations {
		if f.name == "delete" {
			d = "--duration=2m"
		}
		if o, log = b.runs(append(j.args[:len(j.args):len(j.args)], d)...); o.code != 0 || j.enough(readLog(t, log), false) {
			break
		}
	}
	o.want(t, 0).sameAsAnalyze(t, log, "--json")
	h := readLog(t, log)
	j.check(t, o, h)
	agreeGCS(t, b, h, j.ops)
	if names, ok := b.keys(t); !ok || len(names) > 0 {
		t.Errorf("bucket %v, left behind are %q", ok, names)
	}
	t.Logf("works: %s", summary(h))
	return works
}
