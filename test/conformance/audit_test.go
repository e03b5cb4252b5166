package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/oplog"
	"warp/pkg/workload"
	"warp/pkg/workload/accesslog"
)

// An auditLog receives the audit log of a MinIO.
type auditLog struct {
	sync.Mutex
	lines [][]byte
}

func (a *auditLog) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	a.Lock()
	defer a.Unlock()
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); err == nil && len(line) > 0 {
			a.lines = append(a.lines, line)
		}
	}
}

// of returns the lines about objects with these keys that began in a time. There are others, of the lease and the clean-up.
func (a *auditLog) of(t *testing.T, keys map[string]bool, from, to time.Time) (all [][]byte) {
	a.Lock()
	defer a.Unlock()
	for _, line := range a.lines {
		var x struct {
			Time time.Time
			API  struct{ Object, TimeToResponseInNS string }
		}
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		took, _ := time.ParseDuration(x.API.TimeToResponseInNS + "ns")
		if start := x.Time.Add(-took); keys[x.API.Object] && !start.Before(from) && !start.After(to) {
			all = append(all, line)
		}
	}
	return all
}

// The audit log of a MinIO and the op log of the same run have the same profile.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	audit := &auditLog{}
	receiver := httptest.NewServer(audit)
	defer receiver.Close()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{Env: []string{"MINIO_AUDIT_WEBHOOK_ENABLE_test=on", "MINIO_AUDIT_WEBHOOK_ENDPOINT_test=" + receiver.URL}})
	for name, args := range map[string][]string{
		"mixed":  {"mixed", "--objects=100", "--obj.size=exact:1KiB:6,64KiB:3,300KiB:1", "--pick=zipf:0.9"},
		"ranges": {"get", "--objects=20", "--obj.size=64KiB", "--range-size=1KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			warp(append(args, "--host="+s.Endpoint, "--access-key="+s.AccessKey, "--secret-key="+s.SecretKey, "--bucket=audit-"+name,
				"--concurrent=4", "--rps-limit=150", "--duration=4s", "--quiet", "--noclear", "--benchdata="+path)...).want(t, 0)
			path += ".csv.zst"
			rows, window := rowsOf(t, path)
			keys := map[string]bool{}
			for _, r := range rows {
				keys[r.Key] = true
			}
			// MinIO sends its log a little later.
			count := func() (all [][]byte) { return audit.of(t, keys, time.Unix(0, window.Start), time.Now()) }
			measured := 0
			for _, r := range rows {
				if r.Start >= window.Start {
					measured++
				}
			}
			for end := time.Now().Add(20 * time.Second); len(count()) < measured && time.Now().Before(end); {
				time.Sleep(50 * time.Millisecond)
			}
			lines := count()
			got, want := profileOf(t, bytes.NewReader(bytes.Join(lines, []byte("\n"))), "audit"), profileOf(t, open(t, path), "rows")
			sameProfile(t, got, want)
			// The end of a request, which is the time in the audit log, is not its start.
			for _, line := range lines[:min(len(lines), 20)] {
				if !bytes.Contains(line, []byte("timeToResponseInNS")) {
					t.Errorf("MinIO does not say how long it took: %s", line)
				}
			}
		})
	}
}

func open(t *testing.T, path string) io.Reader {
	b, err := os.ReadFile(path)
	check.OK(t, err)
	return bytes.NewReader(b)
}

func profileOf(t *testing.T, in io.Reader, name string) *workload.Profile {
	t.Helper()
	c := workload.NewCollector()
	warnings, err := accesslog.Read(t.Context(), in, name, c)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s: %q, %v", name, warnings, err)
	}
	return c.Profile()
}

// rowsOf returns the rows and the window of an op log.
func rowsOf(t *testing.T, path string) (all []oplog.Record, w oplog.Window) {
	t.Helper()
	log, err := oplog.Open(path)
	check.OK(t, err)
	defer log.Close()
	batch := make([]oplog.Record, 100)
	for {
		n, err := log.Read(batch)
		for _, r := range batch[:n] {
			r.Key = strings.Clone(r.Key)
			all = append(all, r)
		}
		if errors.Is(err, io.EOF) {
			return all, log.Window()
		}
		check.OK(t, err)
	}
}

// sameProfile compares the profiles of two logs of the same requests. Exact are numbers, sizes and popularity; one log has the client's
// times, and the other the store's.
func sameProfile(t *testing.T, got, want *workload.Profile) {
	t.Helper()
	if got.Requests != want.Requests || got.Errors != want.Errors || len(got.Operations) != len(want.Operations) {
		t.Fatalf("%d requests, %d errors, %d operations, want %d, %d, %d", got.Requests, got.Errors, len(got.Operations), want.Requests, want.Errors, len(want.Operations))
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for i := range want.Operations {
		if g, w := text(got.Operations[i]), text(want.Operations[i]); g != w {
			t.Errorf("got  %s\nwant %s", g, w)
		}
	}
	if g, w := text(got.Popularity), text(want.Popularity); g != w {
		t.Errorf("got popularity  %s\nwant %s", g, w)
	}
	if g, w := ranges(got), ranges(want); g != w {
		t.Errorf("got ranges %s, want %s", g, w)
	}
	if math.Abs(got.DurationS-want.DurationS) > .1*want.DurationS {
		t.Errorf("%v s, want %v", got.DurationS, want.DurationS)
	}
	a, b := got.Reuse, want.Reuse
	if a == nil || b == nil || a.Requests != b.Requests || a.Bytes != b.Bytes {
		t.Fatalf("got reuse %+v, want %+v", a, b)
	}
}

func ranges(p *workload.Profile) string {
	if p.Ranges == nil {
		return "none"
	}
	return fmt.Sprintf("%d requests, %.6f, %v", p.Ranges.Requests, p.Ranges.Share, p.Ranges.Sizes)
}
