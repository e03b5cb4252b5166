package distributed

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A second Ctrl-C ends the coordinator at once, for example while it waits for a client. It says
// what it leaves behind, and where the rest is.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	c := onThisMachine(t)
	c.startClients(t)
	p := c.run(t, "interrupted", "5m")
	c.recorded(t, p, "interrupted")
	held := c.clients[1].client.cmd.Process
	_ = held.Signal(syscall.SIGSTOP)
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.has(t, "a second Ctrl-C quits at once")
	_ = p.cmd.Process.Signal(os.Interrupt)
	code := p.wait(t, time.Minute)
	_ = held.Signal(syscall.SIGCONT)
	text := p.out.String()
	if code != 130 || !strings.Contains(text, "`warp collect "+c.list()+"` gets them") || !strings.Contains(text, ".spool") {
		t.Errorf("exit code %d; it does not say what is left:\n%s", code, text)
	}
	c.collect(t, "interrupted")
	c.clean(t)
}
