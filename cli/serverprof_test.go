package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/s3mem"
)

// A slowProfiler is a proxy of a store that makes profiles as MinIO does, but begins much more slowly.
type slowProfiler struct {
	store         http.Handler
	takes         time.Duration
	begun         atomic.Int64
	ended         atomic.Bool
	within, after atomic.Int64 // uploads since the profiles began for good, and after they were fetched
}

func (p *slowProfiler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/profiling/start"):
		if p.begun.Load() > 0 { // the first is the try before the run
			time.Sleep(p.takes)
		}
		p.begun.Add(1)
		_, _ = io.WriteString(w, `[{"nodeName":"one","success":true}]`)
		return
	case strings.HasSuffix(r.URL.Path, "/profiling/download"):
		p.ended.Store(true)
		_, _ = io.WriteString(w, "profiles")
		return
	case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/warp-") && p.ended.Load():
		p.after.Add(1)
	case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/warp-") && p.begun.Load() > 1:
		p.within.Add(1)
	}
	p.store.ServeHTTP(w, r)
}

// A store that takes longer to begin with its profiles than the whole run is measured takes nothing from that.
func TestServerProfilesCostNoTime(t *testing.T) {
	t.Parallel()
	e, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = e.Close() })
	p := &slowProfiler{takes: 3 * time.Second, store: e}
	front := httptest.NewServer(p)
	t.Cleanup(front.Close)
	log := filepath.Join(t.TempDir(), "log.csv.zst")
	errw := &teststore.Output{}
	a := &app{in: strings.NewReader(""), out: io.Discard, errw: errw, env: noEnv, signals: make(chan os.Signal), exit: func(int) {}}
	code := a.main(t.Context(), []string{"put", "--host=" + strings.TrimPrefix(front.URL, "http://"), "--access-key=keykey", "--secret-key=bbbbbbbb",
		"--bucket=bucket", "--obj.size=1KiB", "--concurrent=2", "--duration=2s", "--serverprof=mem", "--benchdata=" + log})
	if code != 0 || p.begun.Load() != 2 || p.within.Load() == 0 || p.after.Load() != 0 {
		t.Errorf("exit code %d, begun %d times, %d uploads while it profiled, %d afterwards: %s", code, p.begun.Load(), p.within.Load(), p.after.Load(), errw)
	}
	if _, err := os.Stat(strings.TrimSuffix(log, ".csv.zst") + ".profiles.zip"); err != nil {
		t.Error(err)
	}
}
