package conformance

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
)

func partNumber(n string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == http.MethodPut && r.URL.Query().Get("partNumber") == n
	}
}

func anyPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

// uploads returns how many uploads were started, completed and aborted.
func uploads(b *bed) (begun, completed, aborted int) {
	for _, s := range b.proxy.Requests(nil) {
		switch id := strings.Contains(s.Query, "uploadId="); {
		case s.Method == "POST" && strings.Contains(s.Query, "uploads"):
			begun++
		case s.Method == "POST" && id && s.Status == 200:
			completed++
		case s.Method == "DELETE" && id:
			aborted++
		}
	}
	return begun, completed, aborted
}

// TestPartFails checks that an upload with a failed part is an error with that code, and is aborted
// at once.
func TestPartFails(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Versitygw), &teststore.Fault{Match: partNumber("2"), Every: 3, Status: 503})
	o, log := b.run("multipart-put", "--parts=3", "--part.concurrent=2", "--concurrent=2", "--max-objects=4", "--duration=1m")
	o.want(t, 3)
	h := readLog(t, log)
	failed := 0
	for _, r := range h.of("UPLOAD") {
		if r.Err == "" {
			continue
		}
		failed++
		if !strings.HasPrefix(r.Err, "SlowDown: part 2: ") || r.Status != 503 || r.Requests != 2 {
			t.Errorf("an upload that failed: %+v", r)
		}
	}
	begun, completed, aborted := uploads(b)
	if failed == 0 || failed != errorsIn(h.of("PUTPART")) || failed != aborted || begun != completed+aborted {
		t.Errorf("%d uploads failed, %d parts; %d were begun, %d completed, %d aborted", failed, errorsIn(h.of("PUTPART")), begun, completed, aborted)
	}
	b.clean(t)
}

// TestPartsAreRepeated checks that a failed part is repeated rather than the whole upload.
func TestPartsAreRepeated(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.Versitygw), &teststore.Fault{Match: partNumber("2"), Every: 3, Status: 503})
	o, log := b.run("multipart-put", "--parts=2", "--concurrent=1", "--max-objects=4", "--duration=1m", "--retries=1")
	o.want(t, 0)
	for _, r := range readLog(t, log).of("UPLOAD") {
		if r.Retries != 0 || r.Requests != 2 {
			t.Errorf("an upload with a part that was repeated: %+v", r)
		}
	}
	if begun, completed, _ := uploads(b); begun == 0 || begun != completed {
		t.Errorf("%d uploads were begun, %d completed", begun, completed)
	}
	b.clean(t)
}

// TestInterruptParts checks that Ctrl-C during uploads leaves none incomplete.
func TestInterruptParts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw, teststore.Garage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slow := &teststore.Fault{Match: anyPart, Delay: 50 * time.Millisecond}
			b := newBed(t, stores.Shared(t, name), slow)
			line, log := b.line("multipart-put", "--parts=1000", "--part.concurrent=3", "--concurrent=2", "--duration=5m")
			c := startWarp(t, line...)
			check.Eventually(t, "parts to be under way", func() bool { return len(b.proxy.Requests(isPart)) > 10 })
			c.interrupt(t)
			o, _ := c.ends(t)
			o.want(t, 130)
			h := readLog(t, log)
			if n := len(h.of("PUTPART")); n < 5 || errorsIn(h.rows) > 0 || len(h.of("UPLOAD")) > 0 {
				t.Errorf("%d parts in the log, %d errors, %d uploads", n, errorsIn(h.rows), len(h.of("UPLOAD")))
			}
			b.clean(t)
		})
	}
}

func isPart(s *teststore.Seen) bool { return strings.Contains(s.Query, "partNumber=") && s.Status != 0 }

// TestUploadsAreGivenUp checks that a run waits for uploads at its end for no more than half of the
// time for requests, and that this is not an error. Parts in flight may finish.
func TestUploadsAreGivenUp(t *testing.T) {
	t.Parallel()
	slow := &teststore.Fault{Match: anyPart, Delay: 50 * time.Millisecond}
	b := newBed(t, stores.Shared(t, teststore.Versitygw), slow)
	o, log := b.run("multipart-put", "--parts=1000", "--part.concurrent=2", "--concurrent=2", "--duration=300ms", "--drain=8s")
	o.want(t, 0)
	h := readLog(t, log)
	if len(h.of("UPLOAD")) > 0 || errorsIn(h.rows) > 0 || len(h.of("PUTPART")) == 0 {
		t.Errorf("%d uploads, %d errors, %d parts", len(h.of("UPLOAD")), errorsIn(h.rows), len(h.of("PUTPART")))
	}
	if len(h.trailer.Notes) == 0 || !strings.Contains(strings.Join(h.trailer.Notes, "\n"), "2 objects in parts given up, not complete 4s") {
		t.Errorf("the log notes %q", h.trailer.Notes)
	}
	// Clean-up repeats an abort that a busy store has not answered in time.
	if begun, completed, aborted := uploads(b); begun != 2 || completed != 0 || aborted < 2 {
		t.Errorf("%d uploads were begun, %d completed, %d aborted", begun, completed, aborted)
	}
	b.clean(t)
}

// rangesOnWire checks that objects were downloaded in n ranges each, and that each range is one request and one row.
func rangesOnWire(n int) func(*testing.T, *bed, history) {
	return func(t *testing.T, b *bed, h history) {
		t.Helper()
		rows, wire, whole := make(map[string]int), make(map[string]int), make(map[string]int)
		for _, r := range h.of("GETPART") {
			rows[r.Key]++
		}
		for _, r := range h.of("DOWNLOAD") {
			whole[r.Key]++
		}
		for _, s := range b.proxy.Requests(nil) {
			_, key, _ := strings.Cut(strings.TrimPrefix(s.Path, "/"), "/")
			if s.Method == http.MethodGet && s.Status == http.StatusPartialContent && rows[key] > 0 {
				wire[key]++
			}
		}
		if !maps.Equal(rows, wire) {
			t.Errorf("rows by object %v, requests %v", rows, wire)
		}
		for key, objects := range whole {
			if rows[key] != n*objects {
				t.Errorf("%s: %d downloads in %d ranges, want %d each", key, objects, rows[key], n)
			}
		}
		if len(whole) == 0 || errorsIn(h.rows) > 0 {
			t.Errorf("%d objects, %d errors", len(whole), errorsIn(h.rows))
		}
	}
}

// TestReplacedMidway checks that an object that is replaced during its download in ranges is an error, also if the store
// ignores conditions, and that no range of the new version is taken.
func TestReplacedMidway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		ignores    bool
		args       []string
	}{
		{"condition", "PreconditionFailed", false, nil},
		{"after HEAD", "PreconditionFailed", false, []string{"--split.head"}},
		{"ignored", "WrongETag", true, []string{"--verify=none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			host := teststore.Intercept(t, func(st http.Handler, w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && r.Header.Get("If-Match") != "" {
					once.Do(func() {
						put := httptest.NewRequest(http.MethodPut, r.URL.Path, strings.NewReader(strings.Repeat("x", 21<<20)))
						st.ServeHTTP(httptest.NewRecorder(), put)
					})
					if c.ignores {
						r.Header.Del("If-Match")
					}
				}
				st.ServeHTTP(w, r)
			})
			log := filepath.Join(t.TempDir(), "log")
			args := []string{"get", "--host=" + host, "--access-key=access", "--secret-key=secretsecret", "--split.size=5MiB", "--split.concurrent=2",
				"--obj.size=21MiB", "--objects=1", "--concurrent=1", "--epochs=1", "--benchdata=" + log}
			warp(append(args, c.args...)...).want(t, 3)
			h := readLog(t, log+".csv.zst")
			whole, parts := h.of("DOWNLOAD"), h.of("GETPART")
			if len(whole) != 1 || !strings.HasPrefix(whole[0].Err, c.code) {
				t.Errorf("downloads %+v", whole)
			}
			good := 0
			for _, p := range parts {
				if p.Err == "" {
					good++
				} else if !strings.HasPrefix(p.Err, c.code) && !strings.HasPrefix(p.Err, "Canceled") {
					t.Errorf("a range failed with %s", p.Err)
				}
			}
			if want := 1 - len(c.args)%2; !c.ignores && good != want {
				t.Errorf("%d ranges were downloaded, want %d", good, want)
			}
		})
	}
}
