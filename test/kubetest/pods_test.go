package kubetest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	_ "warp/cli" // the binary is built from this: a change makes cached results of these tests stale
	"warp/internal/check"
	"warp/internal/teststore"
	"warp/test/testbinary"
)

// An object contains the parts of a rendered object that the tests read.
type object struct {
	Kind       string
	Metadata   struct{ Name string }
	Data       map[string]string
	StringData map[string]string `yaml:"stringData"`
	Spec       struct {
		BackoffLimit *int `yaml:"backoffLimit"`
		Replicas     int
		ServiceName  string `yaml:"serviceName"`
		Template     struct{ Spec pod }
	}
}

type pod struct {
	RestartPolicy   string `yaml:"restartPolicy"`
	SecurityContext struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []struct {
		Name      string
		ConfigMap struct{ Name string } `yaml:"configMap"`
		Secret    struct {
			SecretName string `yaml:"secretName"`
		}
	}
}

type container struct {
	Args       []string
	WorkingDir string `yaml:"workingDir"`
	Env        []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct {
				Name, Key string
				Optional  bool
			} `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
	SecurityContext struct {
		ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

// values returns the values of a ConfigMap or a Secret in plain text.
func (o object) values(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key, value := range o.Data {
		if o.Kind == "Secret" {
			plain, err := base64.StdEncoding.DecodeString(value)
			check.OK(t, err)
			value = string(plain)
		}
		all[key] = value
	}
	for key, value := range o.StringData {
		all[key] = value
	}
	return all
}

// objects returns the objects in a text, by kind and by kind/name.
func objects(t *testing.T, text string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o object
		err := d.Decode(&o)
		if err == io.EOF {
			return all
		}
		check.OK(t, err)
		all[o.Kind], all[o.Kind+"/"+o.Metadata.Name] = o, o
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	for name, set := range values(t) {
		all := objects(t, rendered(t, set...))
		job := all["Job"].Spec
		if job.BackoffLimit == nil || *job.BackoffLimit != 0 || job.Template.Spec.RestartPolicy != "Never" {
			t.Errorf("%s: the coordinator would run twice", name)
		}
		if all["StatefulSet"].Spec.ServiceName != all["Service"].Metadata.Name {
			t.Errorf("%s: the clients have no names", name)
		}
		for _, kind := range []string{"Job", "StatefulSet"} {
			pod := all[kind].Spec.Template.Spec
			c := pod.Containers[0]
			if !pod.SecurityContext.RunAsNonRoot || !c.SecurityContext.ReadOnlyRootFilesystem || c.VolumeMounts[0].MountPath != c.WorkingDir {
				t.Errorf("%s: %s is not confined, or has nowhere to write: %+v", name, kind, pod)
			}
		}
	}
}

// Names of any length are shortened to leave room for what Kubernetes appends.
func TestLongNames(t *testing.T) {
	t.Parallel()
	out, err := helm(t, "template", "a.release-with-the-longest-name-that-helm-would-take", chart, "--set", "run=twenty-letters-and-no")
	if err == nil {
		t.Fatalf("a run of 21 letters is taken:\n%s", out)
	}
	if out, err = helm(t, "template", "a.release-with-the-longest-name-that-helm-would-take", chart, "--set", "run=twenty-letters-and-n"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := objects(t, out)
	for kind, longest := range map[string]int{"StatefulSet": 52, "Job": 63, "Service": 63} { // 63 less "-" and a hash of 10
		name := all[kind].Metadata.Name
		if len(name) > longest || strings.Contains(name, ".") {
			t.Errorf("%s %q has %d letters", kind, name, len(name))
		}
	}
}

// A cluster simulates a cluster for the commands of a release: it runs them as local processes,
// with the environment and the files that their pods would have.
type cluster struct {
	t       *testing.T
	objects map[string]object
	binary  string
}

// install renders the chart with values. more contains existing objects, in YAML.
func install(t *testing.T, there string, set ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, objects: objects(t, rendered(t, set...)+"\n---\n"+there), binary: filepath.Join(t.TempDir(), "warp")}
	check.OK(t, testbinary.Build(c.binary, "warp"))
	return c
}

// command returns the command of a pod.
func (c *cluster) command(p pod) *exec.Cmd {
	c.t.Helper()
	one := p.Containers[0]
	cmd := exec.CommandContext(c.t.Context(), c.binary)
	folders := c.mount(p)
	for _, arg := range one.Args {
		for path, folder := range folders {
			arg = strings.ReplaceAll(arg, path+"/", folder+"/")
		}
		cmd.Args = append(cmd.Args, arg)
	}
	cmd.Dir, cmd.Env = folders[one.WorkingDir], []string{"PATH="}
	for _, e := range one.Env {
		value, ref := e.Value, e.ValueFrom.SecretKeyRef
		if ref.Name != "" {
			var ok bool
			if value, ok = c.objects["Secret/"+ref.Name].values(c.t)[ref.Key]; !ok && ref.Optional {
				continue
			} else if !ok {
				c.t.Fatalf("there is no %s in Secret %s", ref.Key, ref.Name)
			}
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	return cmd
}

// mount creates a directory for each volume, by mount path.
func (c *cluster) mount(p pod) map[string]string {
	c.t.Helper()
	sources := map[string]string{}
	for _, v := range p.Volumes {
		switch {
		case v.ConfigMap.Name != "":
			sources[v.Name] = "ConfigMap/" + v.ConfigMap.Name
		case v.Secret.SecretName != "":
			sources[v.Name] = "Secret/" + v.Secret.SecretName
		default:
			sources[v.Name] = ""
		}
	}
	folders := map[string]string{}
	for _, m := range p.Containers[0].VolumeMounts {
		source, known := sources[m.Name]
		if !known {
			c.t.Fatalf("there is no volume %s", m.Name)
		}
		dir := c.t.TempDir()
		folders[m.MountPath] = dir
		if source == "" {
			continue
		}
		if _, there := c.objects[source]; !there || !m.ReadOnly {
			c.t.Fatalf("%s is not there, or may be written", source)
		}
		for name, text := range c.objects[source].values(c.t) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	return folders
}

// clients starts the StatefulSet after a delay, and returns the addresses and the host list of the
// pods.
func (c *cluster) clients() (addrs []string, names string) {
	c.t.Helper()
	set := c.objects["StatefulSet"]
	for range set.Spec.Replicas {
		addr := teststore.FreeAddress(c.t)
		addrs = append(addrs, addr)
		cmd := c.command(set.Spec.Template.Spec)
		for i := range cmd.Args {
			cmd.Args[i] = strings.Replace(cmd.Args[i], "0.0.0.0:7761", addr, 1)
		}
		// The coordinator starts first, as may happen in a cluster.
		started := make(chan error, 1)
		later := time.AfterFunc(time.Second, func() { started <- cmd.Start() })
		c.t.Cleanup(func() {
			if later.Stop() {
				return
			}
			if err := <-started; err != nil {
				c.t.Errorf("a client did not start: %v", err)
				return
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	return addrs, fmt.Sprintf("%s-{0...%d}.%s:7761", set.Metadata.Name, len(addrs)-1, set.Spec.ServiceName)
}

// run starts the clients and the Job, and returns how the Job ended, its output, and its directory.
func (c *cluster) run() (code int, out, folder string) {
	c.t.Helper()
	cmd := c.command(c.objects["Job"].Spec.Template.Spec)
	addrs, names := c.clients()
	at := slices.Index(cmd.Args, "--warp-client="+names)
	if at < 0 {
		c.t.Fatalf("%q does not name %s", cmd.Args, names)
	}
	cmd.Args[at] = "--warp-client=" + strings.Join(addrs, ",")
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), printed.String(), cmd.Dir
}

// logs counts the op logs in a directory.
func logs(folder string) int {
	all, _ := filepath.Glob(folder + "/warp-remote-*.csv.zst")
	return len(all)
}

// few makes a run short.
const few = `args=["--obj.size=4KiB","--objects=50","--duration=3s","--concurrent=2"]`

// two sets two clients, which do not start at once.
const two = "clients.replicas=2,clients.wait=1m,store.accessKey=key,store.secretKey=secretsecret,"

// The commands of a release run here as in a cluster, except for the addresses.
func TestCommands(t *testing.T) {
	t.Parallel()
	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	c := install(t, "", "--set-json", few, "--set", two+"benchmark=get,store.host="+store.Endpoint)
	if code, out, folder := c.run(); code != 0 || logs(folder) != 1 || !strings.Contains(out, "Operation: GET") {
		t.Errorf("exit code %d, %d logs\n%s", code, logs(folder), out)
	}
}

// The Job fails with warp's exit code if requests fail.
func TestExitCode(t *testing.T) {
	t.Parallel()
	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	proxy := teststore.NewProxy(t, store.Endpoint, &teststore.Fault{Match: teststore.OnObject("GET"), Every: 10, Status: 503})
	c := install(t, "", "--set-json", few, "--set", two+"benchmark=get,store.host="+proxy.Endpoint)
	if code, out, folder := c.run(); code != 3 || logs(folder) != 1 || !strings.Contains(out, "requests failed") {
		t.Errorf("exit code %d, %d logs\n%s", code, logs(folder), out)
	}
}

// A file for warp run is run with the chart's clients. It overrides the chart's values of the
// store, which apply if it sets nothing, and args override it.
func TestConfig(t *testing.T) {
	t.Parallel()
	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	file := filepath.Join(t.TempDir(), "suite.yml")
	text := `warp:
  api: v1
  remote: {host: "` + store.Endpoint + `", tls: false, bucket: "{{.Bucket}}"}
  params: {obj: {size: 4KiB}, duration: 3s, concurrent: 9}
  benchmarks:
    - benchmark: put
    - {benchmark: get, params: {objects: 50}}
`
	check.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c := install(t, "", "--set-file", "config="+file, "--set-json", `args=["--concurrent=2","--var=Bucket=from-args"]`,
		"--set", two+"store.tls=true,store.host=127.0.0.1:1")
	code, out, folder := c.run()
	if code != 0 || logs(folder) != 2 || !strings.Contains(out, "benchmark 2 of 2: get") || !strings.Contains(out, "Concurrency: 4.") {
		t.Errorf("exit code %d, %d logs\n%s", code, logs(folder), out)
	}

	text = strings.Replace(text, `host: "`+store.Endpoint+`", tls: false, `, "", 1)
	check.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c = install(t, "", "--set-file", "config="+file, "--set-json", `args=["--concurrent=2","--var=Bucket=from-args"]`,
		"--set", two+"store.host="+store.Endpoint)
	if code, out, _ := c.run(); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// A ConfigMap or a Secret can contain the authorities of a store's private certificate.
func TestPrivateCertificate(t *testing.T) {
	t.Parallel()
	store := teststore.Start(t, teststore.MinIO, teststore.Options{TLS: true})
	ca, err := os.ReadFile(store.CAFile)
	check.OK(t, err)
	text, err := yaml.Marshal(map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "store-ca"}, "stringData": map[string]any{"root.pem": string(ca)}})
	check.OK(t, err)
	set := []string{"--set-json", few, "--set", "clients.replicas=2,clients.wait=1m,benchmark=get,store.tls=true,store.host=" + store.Endpoint +
		",store.accessKey=" + store.AccessKey + ",store.secretKey=" + store.SecretKey}
	if code, out, _ := install(t, "", set...).run(); code != 1 || !strings.Contains(out, "unknown authority") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for kind, source := range map[string]string{"Secret": "secret", "ConfigMap": "configMap"} {
		there := strings.Replace(string(text), "kind: Secret", "kind: "+kind, 1)
		if kind == "ConfigMap" {
			there = strings.Replace(there, "stringData", "data", 1)
		}
		c := install(t, there, append(set, "--set", "store.ca.key=root.pem,store.ca."+source+"=store-ca")...)
		if code, out, folder := c.run(); code != 0 || logs(folder) != 1 {
			t.Errorf("%s: exit code %d\n%s", kind, code, out)
		}
	}
}
