package teststore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"warp/pkg/s3mem"
)

// A Store is a running object store.
type Store struct {
	Name      string
	Endpoint  string   // host:port of the first host
	Endpoints []string // every host; one unless Options.Hosts asks for more
	Region    string
	AccessKey string
	SecretKey string
	CAFile    string // set where the store speaks TLS
	Can       Capabilities

	mu    sync.Mutex
	procs []*process
	mem   *s3mem.Embedded
	dir   string
}

// Capabilities say what a store does. What is false it refuses, or answers without doing it.
type Capabilities struct {
	Versioning bool
	Lock       bool // object lock and retention
	PartNumber bool // GET with partNumber answers that part alone
	Tags       bool
	SSEC       bool // encryption with a key that the client sends; needs TLS
	SSES3      bool
	Zip        bool // extracts members of a ZIP on GET
	Snowball   bool // unpacks an uploaded TAR
	Fanout     bool // POST that stores one body under many names
}

// Options of a store.
type Options struct {
	TLS   bool // MinIO only: serve HTTPS with a certificate of a throw-away CA
	Hosts int  // MinIO only: this many processes over the same drives; 0 means 1
	Env   []string
}

// capabilities is the table of what each store was seen to do.
func capabilities(name string) Capabilities {
	return map[string]Capabilities{
		MinIO: {Versioning: true, Lock: true, PartNumber: true, Tags: true, SSEC: true, SSES3: true, Zip: true,
			Snowball: true, Fanout: true},
		Versitygw: {Versioning: true, Lock: true, PartNumber: true, Tags: true},
		Garage:    {PartNumber: true, SSEC: true},
		Embedded:  {},
	}[name]
}

// Names lists every store that tests run against.
func Names() []string { return []string{Embedded, MinIO, Versitygw, Garage} }

// readyWithin is generous because a loaded two-core machine starts things slowly.
const readyWithin = 60 * time.Second

// Start runs a store for one test and stops it with the test. Where the store cannot be built the test is
// skipped, and in CI it fails.
func Start(t testing.TB, name string, o Options) *Store {
	t.Helper()
	s, err := Open(testContext(t), name, o)
	requireStore(t, name, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of %s's log:\n%s", name, s.Log())
		}
		if err := s.Close(); err != nil {
			t.Errorf("stopping %s: %v", name, err)
		}
	})
	return s
}

// requireStore turns the error of a start into the outcome of the test.
func requireStore(t testing.TB, name string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable) && !InCI():
		t.Skipf("SKIPPED, not tested against %s: %v", name, err)
	default:
		t.Fatalf("starting %s: %v (make stores builds all stores ahead)", name, err)
	}
}

// testContext ends a little before the test binary would be killed, so that the failure has a reason.
func testContext(t testing.TB) context.Context {
	d, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return t.Context()
	}
	at, ok := d.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), at.Add(-10*time.Second))
	t.Cleanup(cancel)
	return ctx
}

// Open runs a store; the caller closes it. Tests call Start or Shared instead.
func Open(ctx context.Context, name string, o Options) (*Store, error) {
	s := &Store{Name: name, Region: "us-east-1", AccessKey: "warptestkey", SecretKey: "warptestsecret", Can: capabilities(name)}
	if name == Embedded {
		return s, s.openEmbedded()
	}
	binary, err := Ensure(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "warp-"+name+"-"); err != nil {
		return nil, err
	}
	launch := map[string]func(context.Context, string, Options) error{
		MinIO: s.launchMinIO, Versitygw: s.launchVersitygw, Garage: s.launchGarage,
	}[name]
	// Another process may take a port between our look at it and the store's bind.
	for try := 1; ; try++ {
		if err = launch(ctx, binary, o); err == nil {
			return s, nil
		}
		log := s.Log()
		s.stop()
		if try == 3 || ctx.Err() != nil {
			os.RemoveAll(s.dir)
			return nil, fmt.Errorf("%w\n%s", err, log)
		}
		s.procs = nil
	}
}

func (s *Store) openEmbedded() error {
	mem, err := s3mem.Start(s3mem.EmbeddedOptions{MemoryLimit: 1 << 30})
	if err != nil {
		return err
	}
	s.mem, s.Endpoint, s.Endpoints = mem, mem.Addr(), []string{mem.Addr()}
	return nil
}

// Close stops the store and removes its files.
func (s *Store) Close() error {
	if s.mem != nil {
		return s.mem.Close()
	}
	s.stop()
	return os.RemoveAll(s.dir)
}

// Kill ends one host of the store at once, as a crash would.
func (s *Store) Kill(host int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs[host].kill()
}

// Pid is the process of one host of the store, for tests that look at it or pause it.
func (s *Store) Pid(host int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.procs[host].cmd.Process.Pid
}

// Log is the last part of what the store printed.
func (s *Store) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all string
	for _, p := range s.procs {
		all += p.log.String() + "\n"
	}
	return all
}

func (s *Store) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.procs {
		p.kill()
	}
}

// A process is one host of a store.
type process struct {
	cmd  *exec.Cmd
	log  tail
	done chan struct{} // closed when the process has ended
	once sync.Once
}

// run starts a program of the store. Its environment is only what it is given, so that a developer's own
// settings for a real store cannot reach a test.
func (s *Store) run(binary string, env []string, args ...string) error {
	p := &process{cmd: exec.Command(binary, args...), done: make(chan struct{})}
	p.cmd.Dir = s.dir
	p.cmd.Env = append([]string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	dieWithParent(p.cmd)
	started := make(chan error)
	// Linux sends the death signal when the thread that forked ends, so that thread is kept for as long as
	// the process lives.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs = append(s.procs, p)
	return nil
}

// kill does not ask: a store under test has nothing worth saving.
func (p *process) kill() {
	p.once.Do(func() { p.cmd.Process.Signal(syscall.SIGKILL) })
	<-p.done
}

// awaitReady calls ready until it succeeds, the store ends or time is up.
func (s *Store) awaitReady(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		for _, p := range s.procs {
			select {
			case <-p.done:
				return fmt.Errorf("%s ended before it was ready: %v", s.Name, p.cmd.ProcessState)
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w", s.Name, readyWithin, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answersHTTP reports whether an address answers an HTTP request at all.
func answersHTTP(ctx context.Context, client *http.Client, url string, ok func(*http.Response) bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if !ok(resp) {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	return nil
}

// freePorts returns addresses on loopback that nothing listens on at this moment.
func freePorts(n int) ([]string, error) {
	var addrs []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// Held until all are found, so that they differ.
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

func (s *Store) mkdir(elem ...string) (string, error) {
	dir := filepath.Join(append([]string{s.dir}, elem...)...)
	return dir, os.MkdirAll(dir, 0o700)
}
