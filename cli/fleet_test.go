package cli

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"warp/cli/exit"
	"warp/internal/check"
	"warp/internal/teststore"
)

func noEnv(string) (string, bool) { return "", false }

// Ctrl-C ends the wait for somebody who does not answer, and is no failure of theirs.
func TestInterruptedWait(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"collect": "collect --warp-client=ADDR",
		"clients": "get --warp-client=ADDR --host=127.0.0.1:1 --access-key=a --secret-key=bbbbbbbb",
		"clean":   "clean --host=ADDR --access-key=a --secret-key=bbbbbbbb",
		"store":   "get --host=ADDR --access-key=a --secret-key=bbbbbbbb",
		"upload":  "put --host=embedded --obj.size=1KiB --upload=http://ADDR/results",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, signals := silent(t)
			errw := &teststore.Output{}
			env := map[string]string{"WARP_UPLOAD_ACCESS_KEY": "a", "WARP_UPLOAD_SECRET_KEY": "bbbbbbbb"}
			a := &app{in: strings.NewReader(""), out: io.Discard, errw: errw, env: mapEnvironment(env), signals: signals, exit: func(int) {}}
			code := a.main(t.Context(), append(strings.Fields(strings.ReplaceAll(line, "ADDR", addr)), "--json"))
			if code != exit.Interrupted || strings.Contains(errw.String(), "error") {
				t.Errorf("exit code %d: %s", code, errw)
			}
		})
	}
}

// silent listens and does not answer; with the first connection comes Ctrl-C.
func silent(t *testing.T) (addr string, signals chan os.Signal) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	signals = make(chan os.Signal)
	go func() {
		for first := true; ; first = false {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			if first {
				signals <- os.Interrupt
			}
		}
	}()
	return l.Addr().String(), signals
}
