package teststore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A machine contains the processes of one store or receiver, and their working directory.
type machine struct {
	name string
	dir  string

	mu    sync.Mutex
	procs []*process
}

// boot creates the directory and starts the processes. After an error nothing is left.
func (m *machine) boot(ctx context.Context, name string, launch func(context.Context) error) (err error) {
	m.name = name
	if m.dir, err = os.MkdirTemp("", "warp-"+name+"-"); err != nil {
		return err
	}
	// Another process may take a port before the program binds it.
	for try := 1; ; try++ {
		if err = launch(ctx); err == nil {
			return nil
		}
		log := m.Log()
		m.stop()
		if try == 3 || ctx.Err() != nil {
			os.RemoveAll(m.dir)
			return fmt.Errorf("%w\n%s", err, log)
		}
		m.procs = nil
	}
}

// shutDown ends the processes and removes their files.
func (m *machine) shutDown() error {
	m.stop()
	return os.RemoveAll(m.dir)
}

// endsWith closes with the test, and shows the log if the test failed.
func (m *machine) endsWith(t testing.TB, end func() error) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of %s's log:\n%s", m.name, m.Log())
		}
		if err := end(); err != nil {
			t.Errorf("stopping %s: %v", m.name, err)
		}
	})
}

// Kill kills one process, as a crash would.
func (m *machine) Kill(host int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.procs[host].kill()
}

// Pid returns the id of one process, for tests that inspect or pause it.
func (m *machine) Pid(host int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.procs[host].cmd.Process.Pid
}

// Log returns the last part of the output of the processes.
func (m *machine) Log() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all string
	for _, p := range m.procs {
		all += p.log.String() + "\n"
	}
	return all
}

func (m *machine) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.kill()
	}
}

// A process is one host of a store, or a receiver.
type process struct {
	cmd  *exec.Cmd
	log  tail
	done chan struct{} // closed when the process has ended
	once sync.Once
}

// run starts a program. Its environment contains only env, so that a developer's own settings for a
// real store cannot affect a test.
func (m *machine) run(binary string, env []string, args ...string) error {
	p := &process{cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Dir = m.dir
	p.cmd.Env = append([]string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	dieWithParent(p.cmd)
	started := make(chan error)
	// Linux sends the death signal when the thread that forked ends, so that thread is kept as long
	// as the process runs.
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.procs = append(m.procs, p)
	return nil
}

// kill does not wait for a clean shutdown, because a store under test has nothing worth saving.
func (p *process) kill() {
	p.once.Do(func() { p.cmd.Process.Signal(syscall.SIGKILL) })
	<-p.done
}

// awaitReady calls ready until it succeeds, a process ends or the time is over.
func (m *machine) awaitReady(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		for _, p := range m.procs {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended before it was ready: %v", m.name, p.cmd.ProcessState)
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w", m.name, readyWithin, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (m *machine) mkdir(elem ...string) (string, error) {
	dir := filepath.Join(append([]string{m.dir}, elem...)...)
	return dir, os.MkdirAll(dir, 0o700)
}
