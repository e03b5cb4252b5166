package teststore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	kubernetesModule  = "k8s.io/kubernetes"
	kubernetesVersion = "v1.36.3"
)

// KubernetesSource returns the directory of the source of KubeAPIServer, which describes every kind
// of object.
func KubernetesSource(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("the source of Kubernetes needs go: %w", ErrUnavailable)
	}
	return downloadModule(ctx, kubernetesModule+"@"+kubernetesVersion, os.TempDir())
}

// buildKubeAPIServer builds in a separate module. The modules that Kubernetes replaces by
// directories of its repository are published under the same version, with 0 instead of 1.
func buildKubeAPIServer(ctx context.Context, r recipe, dir string, log io.Writer) error {
	source, err := downloadModule(ctx, r.source+"@"+r.version, dir)
	if err != nil {
		return err
	}
	read := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	read.Dir, read.Env = source, goEnv()
	out, err := read.Output()
	if err != nil {
		return fmt.Errorf("reading the go.mod of %s: %w", r.title, err)
	}
	var mod struct {
		Go      string
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return err
	}
	text := fmt.Sprintf("module build\n\ngo %s\n\nrequire %s %s\n\n", mod.Go, r.source, r.version)
	for _, one := range mod.Replace {
		if strings.HasPrefix(one.New.Path, "./staging/") {
			text += fmt.Sprintf("replace %s => %[1]s v0%s\n", one.Old.Path, strings.TrimPrefix(r.version, "v1"))
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags=-s -w",
		"-o=bin"+string(filepath.Separator), r.source+"/cmd/kube-apiserver")
	cmd.Env = goEnv("CGO_ENABLED=0")
	return runQuietly(cmd, dir, log)
}

// A Kubernetes is an API server with its etcd. There are no controllers and no nodes, so nothing
// runs in it.
type Kubernetes struct {
	URL    string
	Token  string       // of an administrator
	Client *http.Client // trusts it

	caFile string
	machine
}

// StartKubernetes runs an API server for one test and stops it with the test. If it is not
// available, the test is skipped, and fails in CI.
func StartKubernetes(t testing.TB) *Kubernetes {
	t.Helper()
	k, err := openKubernetes(testContext(t))
	requireStore(t, "Kubernetes", err)
	k.endsWith(t, k.shutDown)
	return k
}

func openKubernetes(ctx context.Context) (*Kubernetes, error) {
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("etcd is not installed: %w", ErrUnavailable)
	}
	server, err := Ensure(ctx, KubeAPIServer)
	if err != nil {
		return nil, err
	}
	k := &Kubernetes{Token: "an-administrator"}
	err = k.boot(ctx, "kubernetes", func(ctx context.Context) error { return k.launch(ctx, etcd, server) })
	return k, err
}

func (k *Kubernetes) launch(ctx context.Context, etcd, server string) error {
	addrs, err := freePorts(3)
	if err != nil {
		return err
	}
	client, peer := "http://"+addrs[0], "http://"+addrs[1]
	err = k.run(etcd, nil, "--data-dir="+filepath.Join(k.dir, "etcd"), "--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err != nil {
		return err
	}
	ca, err := writeCertificates(k.dir, k.dir, "server.crt", "server.key")
	if err != nil {
		return err
	}
	if err := k.trust(ca); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(k.dir, name) }
	if err := os.WriteFile(in("tokens.csv"), []byte(k.Token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addrs[2])
	if err != nil {
		return err
	}
	k.URL = "https://" + addrs[2]
	// Nobody has the advertised address, so that nothing reaches the server through it.
	err = k.run(server, nil, "--etcd-servers="+client, "--bind-address=127.0.0.1", "--secure-port="+port, "--advertise-address=192.0.2.1",
		"--tls-cert-file="+in("server.crt"), "--tls-private-key-file="+in("server.key"), "--cert-dir="+k.dir,
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+in("server.crt"),
		"--service-account-signing-key-file="+in("server.key"), "--token-auth-file="+in("tokens.csv"),
		"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--service-cluster-ip-range=10.0.0.0/24")
	if err != nil {
		return err
	}
	return k.awaitReady(ctx, func(ctx context.Context) error {
		_, err := k.Do(ctx, http.MethodGet, "/readyz", "", "")
		return err
	})
}

func (k *Kubernetes) trust(caFile string) error {
	k.caFile = caFile
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	k.Client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	return nil
}

// Do sends a request and returns the server's warnings, or why it failed.
func (k *Kubernetes) Do(ctx context.Context, method, path, contentType, body string) (warnings []string, err error) {
	_, warnings, err = k.send(ctx, method, path, contentType, body)
	return warnings, err
}

// Get reads an object into v.
func (k *Kubernetes) Get(ctx context.Context, path string, v any) error {
	text, _, err := k.send(ctx, http.MethodGet, path, "", "")
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func (k *Kubernetes) send(ctx context.Context, method, path, contentType, body string) (answer []byte, warnings []string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, k.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+k.Token)
	req.Header.Set("Content-Type", contentType)
	resp, err := k.Client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return answer, resp.Header.Values("Warning"), err
}

// Config returns the path of a kubeconfig file.
func (k *Kubernetes) Config(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "tests",
		"clusters": [{"name": "tests", "cluster": {"server": %q, "certificate-authority": %q}}],
		"users": [{"name": "tests", "user": {"token": %q}}],
		"contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}]}`, k.URL, k.caFile, k.Token)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
