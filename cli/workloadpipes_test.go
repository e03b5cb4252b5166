package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"warp/internal/check"
)

// Logs that a shell passes as <(zcat log.gz) can be read only once, and are read whole.
func TestWorkloadOfPipes(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("this system has no /dev/fd")
	}
	args := []string{"workload"}
	for minute := range 2 {
		r, w, err := os.Pipe()
		check.OK(t, err)
		defer r.Close()
		var log strings.Builder
		for second := range 50 {
			fmt.Fprintf(&log, "owner bucket [31/Jan/2026:12:%02d:%02d +0000] 192.0.2.3 user ID REST.GET.OBJECT key \"GET /bucket/key HTTP/1.1\" 200 - 10 10 7 5 \"-\" \"-\" -\n", minute, second)
		}
		go func() {
			_, _ = io.WriteString(w, log.String())
			_ = w.Close()
		}()
		args = append(args, fmt.Sprintf("/dev/fd/%d", r.Fd()))
	}
	if r := runWarp(t, nil, args...); r.code != 0 || !strings.HasPrefix(r.out, "100 requests in ") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
}
