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

// A machine that is suspended for longer than the timeouts, with its clients and the coordinator, goes on
// with the run when it wakes up.
func TestSuspendedMachine(t *testing.T) {
	t.Parallel()
	c := onThisMachine(t)
	c.startClients(t)
	p := c.run(t, "suspended", "25s", "--lease=1m")
	c.recorded(t, p, "suspended")
	everybody := []*os.Process{p.cmd.Process}
	for _, client := range c.clients {
		everybody = append(everybody, client.client.cmd.Process)
	}
	for _, one := range everybody {
		_ = one.Signal(syscall.SIGSTOP)
	}
	time.Sleep(17 * time.Second) // more than both timeouts, of 10 and 15 s
	for _, one := range everybody {
		_ = one.Signal(syscall.SIGCONT)
	}
	if code := p.wait(t, time.Minute); code != 0 || strings.Contains(p.out.String(), "is given up") || !strings.Contains(p.out.String(), "Warning: warp did not run ") {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
	c.holds(t, "suspended", 0, 1, 2, 3)
	c.clean(t)
}
