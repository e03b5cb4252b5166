package cli

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/s3mem"
)

// What a benchmark of a store with a private certificate has left, clean removes by the flags that got the benchmark there.
func TestCleanByTLS(t *testing.T) {
	t.Parallel()
	store, err := s3mem.Start(s3mem.EmbeddedOptions{})
	check.OK(t, err)
	t.Cleanup(func() { _ = store.Close() })
	front := httptest.NewUnstartedServer(store)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	check.OK(t, os.WriteFile(ca, text, 0o600))
	reach := "--tls --access-key=a --secret-key=bbbbbbbb --host=" + front.Listener.Addr().String()
	run := func(line string, code int, says string) {
		t.Helper()
		if r := runWarp(t, nil, strings.Fields(line+" "+reach)...); r.code != code || !strings.Contains(r.out+r.err, says) {
			t.Errorf("warp %s: code %d, want %d and %q in:\n%s%s", line, r.code, code, says, r.out, r.err)
		}
	}
	for seed, flags := range map[string]string{
		"1": "--insecure",
		"2": "--ca-file=" + ca + " --lookup=path --timeout=1m --source-ip=127.0.0.1 --disable-http-keepalive --sndbuf=64KiB --rcvbuf=64KiB",
	} {
		run("put --quiet --stress --keep-data --obj.size=1KiB --max-objects=20 --seed="+seed+" "+flags, 0, "")
		run("clean --seed="+seed, 1, "--ca-file or --insecure")
		run("clean --seed="+seed+" "+flags, 0, "20 objects removed")
	}
	run("clean --client-cert=a", 2, "--client-cert and --client-key")
	run("clean --insecure --client-cert="+ca+" --client-key=/nowhere", 2, "/nowhere")
}
