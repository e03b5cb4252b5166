package cli

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/standin"
	"warp/internal/testlog"
	"warp/pkg/oplog"
	"warp/pkg/s3mem"
)

// Benchmarks run at a gateway below a path that redirects everything, with both engines. The log has the gateway's
// address and counts the redirects, and nothing is left behind. A gateway that points at a foreign host gets one line.
func TestGatewayBenchmarks(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"lean", "minio"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			mem, err := s3mem.Start(s3mem.EmbeddedOptions{})
			check.OK(t, err)
			t.Cleanup(func() { _ = mem.Close() })
			front, target := standin.StartGateway(t, "/s3", mem), standin.StartGateway(t, "/s3", mem)
			front.Redirect(standin.To("http://" + target.Addr))
			args := []string{"--host=" + front.URL, "--access-key=" + front.Key.Access, "--secret-key=" + front.Key.Secret, "--engine=" + engine,
				"--duration=1s", "--concurrent=2", "--quiet"}
			for _, command := range [][]string{
				{"put", "--obj.size=1KiB"}, {"put", "--obj.size=200KiB"}, {"get", "--obj.size=1KiB", "--objects=10"}, {"mixed", "--obj.size=1KiB", "--objects=10"},
				{"list", "--obj.size=1KiB", "--objects=20"}, {"stat", "--obj.size=1KiB", "--objects=10"}, {"delete", "--obj.size=1KiB", "--objects=40", "--batch=5"},
				{"multipart-put", "--parts=2", "--part.size=5MiB", "--concurrent=1"},
			} {
				log := filepath.Join(t.TempDir(), "log")
				r := runWarp(t, nil, append(append(slices.Clone(command), "--benchdata="+log), args...)...)
				if r.code != exit.OK {
					t.Fatalf("%q: exit code %d: %s", command, r.code, r.err)
				}
				for _, row := range rowsIn(t, log+".csv.zst") {
					if row.Endpoint != front.URL || row.Requests < 2 || row.Requests%2 != 0 {
						t.Errorf("%q: endpoint %s, %d requests", command, row.Endpoint, row.Requests)
						break
					}
				}
			}
			log := filepath.Join(t.TempDir(), "fleet")
			fleet := []string{"put", "--obj.size=1KiB", "--warp-client=" + twoClients(t), "--warp-client-wait=60s", "--benchdata=" + log}
			if r := runWarp(t, nil, append(fleet, args...)...); r.code != exit.OK {
				t.Errorf("a fleet: exit code %d: %s", r.code, r.err)
			} else if row := rowsIn(t, log+".csv.zst")[0]; row.Endpoint != front.URL || row.Requests < 2 {
				t.Errorf("a fleet: endpoint %s, %d requests", row.Endpoint, row.Requests)
			}
			for _, g := range []*standin.Gateway{front, target} {
				if _, problems := g.Seen(); len(problems) > 0 {
					t.Error(problems)
				}
			}
			foreign := standin.StartGateway(t, "/s3", mem)
			front.Redirect(standin.To("http://localhost:" + foreign.Addr[strings.LastIndexByte(foreign.Addr, ':')+1:]))
			r := runWarp(t, nil, append([]string{"put", "--benchdata=" + filepath.Join(t.TempDir(), "log")}, args...)...)
			if r.code != exit.Failed || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "--redirect-hosts=localhost:") {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
			if seen, _ := foreign.Seen(); len(seen) > 0 {
				t.Errorf("the foreign host got %v", seen)
			}
			r = runWarp(t, nil, append([]string{"put", "--redirect-hosts=localhost", "--benchdata=" + filepath.Join(t.TempDir(), "log")}, args...)...)
			if r.code != exit.OK {
				t.Errorf("exit code %d: %s", r.code, r.err)
			}
			answer, err := http.Get(fmt.Sprintf("http://%s/warp-benchmark-bucket?list-type=2", mem.Addr()))
			check.OK(t, err)
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || strings.Contains(string(text), "<Contents>") {
				t.Errorf("objects are left: %s %v", text, err)
			}
		})
	}
}

// rowsIn reads a log.
func rowsIn(t *testing.T, path string) (all []oplog.Record) {
	t.Helper()
	if _, all = testlog.ReadFile(t, path); len(all) == 0 {
		t.Fatal("the log has no rows")
	}
	return all
}
