package teststore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prometheus and its tool are not built; they have to be installed on the machine.
const (
	Prometheus = "prometheus"
	Promtool   = "promtool"
)

// A Receiver is a running program that receives or scrapes figures.
type Receiver struct {
	URL  string // URL of its web interface: http://127.0.0.1:PORT
	Addr string // host:port of URL
	UDP  string // StatsdExporter: the address for datagrams

	Token, Org, Bucket string // Influxd: credentials of an operator

	machine
}

// ReceiverOptions are the options of a receiver.
type ReceiverOptions struct {
	Config string // configuration of Prometheus, or mapping of StatsdExporter
}

// StartReceiver runs a receiver for one test and stops it with the test. If it is not available,
// the test is skipped, and fails in CI.
func StartReceiver(t testing.TB, name string, o ReceiverOptions) *Receiver {
	t.Helper()
	r, err := OpenReceiver(testContext(t), name, o)
	requireStore(t, name, err)
	r.endsWith(t, r.Close)
	return r
}

// OpenReceiver runs a receiver; the caller closes it.
func OpenReceiver(ctx context.Context, name string, o ReceiverOptions) (*Receiver, error) {
	binary, err := receiverBinary(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &Receiver{}
	launch := map[string]func(context.Context, string, ReceiverOptions) error{
		Influxd: r.launchInfluxd, StatsdExporter: r.launchStatsd, Pushgateway: r.launchPushgateway, Prometheus: r.launchPrometheus,
	}[name]
	if err := r.boot(ctx, name, func(ctx context.Context) error { return launch(ctx, binary, o) }); err != nil {
		return nil, err
	}
	return r, nil
}

// Close stops the receiver and removes its files.
func (r *Receiver) Close() error { return r.shutDown() }

// Program returns the path of an installed program. Without it the test is skipped, and fails in
// CI.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := receiverBinary(t.Context(), name)
	requireStore(t, name, err)
	return path
}

func receiverBinary(ctx context.Context, name string) (string, error) {
	if name != Prometheus && name != Promtool {
		return Ensure(ctx, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %w", name, ErrUnavailable)
	}
	return path, nil
}

// listen chooses the address of the web interface.
func (r *Receiver) listen() error {
	addrs, err := freePorts(1)
	if err != nil {
		return err
	}
	r.Addr, r.URL = addrs[0], "http://"+addrs[0]
	return nil
}

// awaitPage waits until the web interface answers successfully.
func (r *Receiver) awaitPage(ctx context.Context, path string) error {
	return r.awaitReady(ctx, answers(r.URL+path, isOK))
}

func (r *Receiver) launchInfluxd(ctx context.Context, binary string, _ ReceiverOptions) error {
	if err := r.listen(); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(r.dir, name) }
	err := r.run(binary, nil, "--reporting-disabled", "--log-level=warn", "--http-bind-address="+r.Addr,
		"--bolt-path="+in("influxd.bolt"), "--sqlite-path="+in("influxd.sqlite"), "--engine-path="+in("engine"))
	if err != nil {
		return err
	}
	if err := r.awaitPage(ctx, "/health"); err != nil {
		return err
	}
	// A token with characters that have a meaning in URLs.
	r.Token, r.Org, r.Bucket = "operator-token/of+the=test==", "an org", "a bucket"
	setup, err := json.Marshal(map[string]string{
		"username": "operator", "password": "operator-password", "org": r.Org, "bucket": r.Bucket, "token": r.Token,
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/api/v2/setup", bytes.NewReader(setup))
	if err != nil {
		return err
	}
	_, err = r.do(req)
	return err
}

func (r *Receiver) launchStatsd(ctx context.Context, binary string, o ReceiverOptions) error {
	if err := r.listen(); err != nil {
		return err
	}
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r.UDP = l.LocalAddr().String()
	l.Close()
	args := []string{"--statsd.listen-udp=" + r.UDP, "--statsd.listen-tcp=", "--web.listen-address=" + r.Addr, "--log.level=warn"}
	if o.Config != "" {
		mapping := filepath.Join(r.dir, "mapping.yml")
		if err := os.WriteFile(mapping, []byte(o.Config), 0o600); err != nil {
			return err
		}
		args = append(args, "--statsd.mapping-config="+mapping)
	}
	if err := r.run(binary, nil, args...); err != nil {
		return err
	}
	return r.awaitPage(ctx, "/metrics")
}

func (r *Receiver) launchPushgateway(ctx context.Context, binary string, _ ReceiverOptions) error {
	if err := r.listen(); err != nil {
		return err
	}
	if err := r.run(binary, nil, "--web.listen-address="+r.Addr, "--log.level=warn"); err != nil {
		return err
	}
	return r.awaitPage(ctx, "/-/ready")
}

func (r *Receiver) launchPrometheus(ctx context.Context, binary string, o ReceiverOptions) error {
	if err := r.listen(); err != nil {
		return err
	}
	config := filepath.Join(r.dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte(o.Config), 0o600); err != nil {
		return err
	}
	err := r.run(binary, nil, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(r.dir, "data"),
		"--web.listen-address="+r.Addr, "--log.level=warn")
	if err != nil {
		return err
	}
	if err := r.awaitPage(ctx, "/-/ready"); err != nil || !strings.Contains(o.Config, "scrape_configs") {
		return err
	}
	// It scrapes its targets only seconds after it is ready. A short run could be over by then.
	return r.awaitReady(ctx, func(ctx context.Context) error {
		text, err := r.Get(ctx, "/api/v1/query?query=up")
		if err == nil && !strings.Contains(text, `"metric":{`) {
			err = errors.New("it has not looked for its targets yet")
		}
		return err
	})
}

// Get returns the content of a page of the web interface, or an error.
func (r *Receiver) Get(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL+path, nil)
	if err != nil {
		return "", err
	}
	return r.do(req)
}

// Flux queries InfluxDB, which answers in CSV.
func (r *Receiver) Flux(ctx context.Context, query string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/api/v2/query?org="+url.QueryEscape(r.Org), strings.NewReader(query))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Token "+r.Token)
	req.Header.Set("Content-Type", "application/vnd.flux")
	req.Header.Set("Accept", "application/csv")
	return r.do(req)
}

func (r *Receiver) do(req *http.Request) (string, error) {
	status, text, err := ask(req)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%s answers %d: %s", req.URL.Path, status, text)
	}
	return text, err
}
