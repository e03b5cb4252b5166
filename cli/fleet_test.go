package cli

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"warp/cli/exit"
	"warp/internal/teststore"
)

func noEnv(string) (string, bool) { return "", false }

func TestStartTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 22, 30, 10, 0, time.UTC)
	for text, want := range map[string]string{
		"22:31":                "2026-03-04T22:31:00Z",
		"00:05":                "2026-03-05T00:05:00Z",
		"22:30":                "! more than 12 hours away; write the date too, like 2026-03-05T22:30:00Z",
		"2026-03-04T22:30:11Z": "2026-03-04T22:30:11Z",
		"2026-03-04T22:30:09Z": "! has passed",
		"25:00":                "! is not a time",
		"now":                  "! is not a time",
	} {
		at, err := startTime(text, now)
		got := at.Format(time.RFC3339)
		if err != nil {
			got = "! " + err.Error()
		}
		if part, wrong := strings.CutPrefix(want, "! "); wrong && !strings.Contains(got, part) || !wrong && got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestListenAddress(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	for _, test := range []struct{ arg, token, addr, source string }{
		{"", "", "127.0.0.1:7761", "invalid IP"},
		{"127.0.0.2:99", "", "127.0.0.2:99", "invalid IP"},
		{"0.0.0.0", token, "0.0.0.0:7761", "invalid IP"},
		{":99", token, ":99", "invalid IP"},
		{"10.1.2.3", token, "10.1.2.3:7761", "10.1.2.3"},
		{"[fd00::1]:5", token, "[fd00::1]:5", "fd00::1"},
		{"0.0.0.0", "", "!", ""},
		{":99", "", "!", ""},
		{"10.1.2.3:99", "", "!", ""},
		{"127.0.0.1:x", "", "!", ""},
	} {
		var args []string
		if test.arg != "" {
			args = []string{test.arg}
		}
		addr, source, err := listenAddress(args, test.token)
		if test.addr == "!" {
			if err == nil {
				t.Errorf("%+v: no error", test)
			}
			continue
		}
		if err != nil || addr != test.addr || source.String() != test.source {
			t.Errorf("%+v: %s, %v, %v", test, addr, source, err)
		}
	}
}

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
	if err != nil {
		t.Fatal(err)
	}
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
