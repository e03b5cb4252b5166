package teststore

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
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
	Provider  string // of --provider, "" for S3
	Path      string // path below which the store is, "" = the root
	AccessKey string
	SecretKey string
	CAFile    string // set if the store uses TLS
	Can       Capabilities

	machine
	mem *s3mem.Embedded
}

// Capabilities describe what a store supports. It rejects everything else, or answers without doing
// it.
type Capabilities struct {
	Versioning bool
	Lock       bool // object lock and retention
	PartNumber bool // GET with partNumber returns only that part
	Tags       bool
	SSEC       bool // encryption with a key from the client; needs TLS
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

// A kind is a store that tests can start.
type kind struct {
	launch func(s *Store, ctx context.Context, binary string, o Options) error // nil = it runs in the process of the test
	can    Capabilities                                                        // as observed
}

// kinds are the stores by their names.
func kinds() map[string]kind {
	return map[string]kind{
		MinIO: {(*Store).launchMinIO, Capabilities{Versioning: true, Lock: true, PartNumber: true, Tags: true, SSEC: true, SSES3: true, Zip: true,
			Snowball: true, Fanout: true}},
		Versitygw: {(*Store).launchVersitygw, Capabilities{Versioning: true, Lock: true, PartNumber: true, Tags: true}},
		Garage:    {(*Store).launchGarage, Capabilities{PartNumber: true, SSEC: true}},
		FakeGCS:   {(*Store).launchFakeGCS, Capabilities{Versioning: true, PartNumber: true}},
		Azurite:   {(*Store).launchAzurite, Capabilities{PartNumber: true, Tags: true}},
		Moto:      {(*Store).launchMoto, Capabilities{Lock: true, Tags: true}},
		S3Mock:    {(*Store).launchS3Mock, Capabilities{Tags: true}},
		OldS3Mock: {(*Store).launchS3Mock, Capabilities{}},
		Embedded:  {nil, Capabilities{Versioning: true, Lock: true, PartNumber: true, Tags: true}},
	}
}

// Names returns every store that tests run against.
func Names() []string { return []string{Embedded, MinIO, Versitygw, Garage} }

// readyWithin is generous because a loaded two-core machine starts programs slowly.
const readyWithin = 60 * time.Second

// Start runs a store for one test and stops it with the test. If the store cannot be built, the
// test is skipped, and fails in CI.
func Start(t testing.TB, name string, o Options) *Store {
	t.Helper()
	s, err := Open(testContext(t), name, o)
	requireStore(t, name, err)
	s.endsWith(t, s.Close)
	return s
}

// requireStore skips or fails the test with the error of a start.
func requireStore(t testing.TB, name string, err error) {
	t.Helper()
	switch {
	case err == nil:
	case MaySkip(err):
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
	k := kinds()[name]
	s := &Store{Name: name, Region: "us-east-1", AccessKey: "warptestkey", SecretKey: "warptestsecret", Can: k.can}
	if name == Embedded {
		return s, s.openEmbedded()
	}
	binary, err := Ensure(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.boot(ctx, name, func(ctx context.Context) error { return k.launch(s, ctx, binary, o) }); err != nil {
		return nil, err
	}
	return s, nil
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
	return s.shutDown()
}

// listen chooses the address of a store with one host, and returns its parts.
func (s *Store) listen() (host, port string, err error) {
	addrs, err := freePorts(1)
	if err != nil {
		return "", "", err
	}
	s.Endpoints, s.Endpoint = addrs, addrs[0]
	return net.SplitHostPort(s.Endpoint)
}

// answers returns a function that asks an address, and returns an error unless the answer is ok. It
// does not check certificates, because the identity of the server does not matter here.
func answers(url string, ok func(*http.Response) bool) func(context.Context) error {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	return func(ctx context.Context) error {
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
}

func isOK(r *http.Response) bool { return r.StatusCode == http.StatusOK }

// answersAnyone accepts an S3 error, because a store that rejects an anonymous request is up.
func answersAnyone(addr string) func(context.Context) error {
	return answers("http://"+addr+"/", func(r *http.Response) bool { return r.StatusCode < 500 })
}
