package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
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
			check.Measured(t, func() error {
				path := filepath.Join(t.TempDir(), "run")
				warp(append(args, "--host="+s.Endpoint, "--access-key="+s.AccessKey, "--secret-key="+s.SecretKey, "--bucket=audit-"+name,
					"--concurrent=4", "--rps-limit=150", "--duration=4s", "--quiet", "--noclear", "--benchdata="+path)...).want(t, 0)
				return audit.agrees(t, path+".csv.zst")
			})
		})
	}
}

// agrees compares the profile of an op log with the profile of the same requests in the audit log.
func (a *auditLog) agrees(t *testing.T, path string) error {
	rows, window := rowsOf(t, path)
	keys, measured := map[string]bool{}, 0
	for _, r := range rows {
		keys[r.Key] = true
		if r.Start >= window.Start {
			measured++
		}
	}
	lines := func() [][]byte { return a.of(t, keys, time.Unix(0, window.Start), time.Now()) }
	// MinIO sends its log a little later.
	for end := time.Now().Add(20 * time.Second); len(lines()) < measured && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	all := lines()
	// The end of a request, which is the time in the audit log, is not its start.
	for _, line := range all[:min(len(all), 20)] {
		if !bytes.Contains(line, []byte("timeToResponseInNS")) {
			t.Errorf("MinIO does not say how long it took: %s", line)
		}
	}
	return sameProfile(profileOf(t, bytes.NewReader(bytes.Join(all, []byte("\n"))), "audit"), profileOf(t, open(t, path), "rows"))
}

func open(t *testing.T, path string) io.Reader {
	b, err := os.ReadFile(path)
	check.OK(t, err)
	return bytes.NewReader(b)
}

func profileOf(t *testing.T, in io.Reader, name string) *workload.Profile {
	t.Helper()
	c := workload.NewCollector()
	log := accesslog.Log{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }, Once: true}
	warnings, err := accesslog.ReadAll(t.Context(), []accesslog.Log{log}, c)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s: %q, %v", name, warnings, err)
	}
	return c.Profile()
}

// rowsOf returns the rows and the window of an op log.
func rowsOf(t *testing.T, path string) (all []oplog.Record, w oplog.Window) {
	t.Helper()
	log, all := testlog.ReadFile(t, path)
	return all, log.Window()
}

// sameProfile compares the profiles of two logs of the same requests. Exact are numbers, sizes and popularity; one log has the client's
// times, and the other the store's.
func sameProfile(got, want *workload.Profile) error {
	if got.Requests != want.Requests || got.Errors != want.Errors || len(got.Operations) != len(want.Operations) {
		return fmt.Errorf("%d requests, %d errors, %d operations, want %d, %d, %d", got.Requests, got.Errors, len(got.Operations), want.Requests, want.Errors, len(want.Operations))
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	type pair struct{ got, want string }
	same := []pair{{text(got.Popularity), text(want.Popularity)}, {ranges(got), ranges(want)}}
	for i := range want.Operations {
		same = append(same, pair{text(got.Operations[i]), text(want.Operations[i])})
	}
	for _, p := range same {
		if p.got != p.want {
			return fmt.Errorf("got %s, want %s", p.got, p.want)
		}
	}
	if math.Abs(got.DurationS-want.DurationS) > .1*want.DurationS {
		return fmt.Errorf("%v s, want %v", got.DurationS, want.DurationS)
	}
	a, b := got.Reuse, want.Reuse
	if a == nil || b == nil || a.Requests != b.Requests || a.Bytes != b.Bytes {
		return fmt.Errorf("got reuse %+v, want %+v", a, b)
	}
	return nil
}

func ranges(p *workload.Profile) string {
	if p.Ranges == nil {
		return "none"
	}
	return fmt.Sprintf("%d requests, %.6f, %v", p.Ranges.Requests, p.Ranges.Share, p.Ranges.Sizes)
}
