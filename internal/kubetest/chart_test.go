package kubetest

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"warp/internal/teststore"
)

const chart = "../../k8s/helm/warp"

// helm runs Helm, which is built at first use.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	binary, err := teststore.Ensure(t.Context(), teststore.Helm)
	if err != nil {
		unavailable(t, err)
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "KUBECONFIG=/dev/null")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// values are the value sets that are tested, by name.
func values(t *testing.T) map[string][]string {
	t.Helper()
	sets := map[string][]string{"default": nil}
	files, err := filepath.Glob(chart + "/ci/*-values.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		sets[filepath.Base(f)] = []string{"-f", f}
	}
	return sets
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, set := range values(t) {
		if out, err := helm(t, append([]string{"lint", "--strict", chart}, set...)...); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// What is wrong is refused before anything is installed.
func TestWrongValues(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"clients.replica=3":                        "replica",
		"clients.replicas=0":                       "replicas",
		"run=Nightly":                              "run",
		"clients.wait=soon":                        "wait",
		"networkPolicy=maybe":                      "networkPolicy",
		"store.existingSecret=a,store.accessKey=b": "leave out one of them",
	} {
		if out, err := helm(t, "template", "warp", chart, "--set", set); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
}

// An object is what the tests look at of a rendered one.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		BackoffLimit *int `yaml:"backoffLimit"`
		Replicas     int
		ServiceName  string `yaml:"serviceName"`
		Template     struct {
			Spec struct {
				RestartPolicy   string `yaml:"restartPolicy"`
				SecurityContext struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []container
			}
		}
	}
}

type container struct {
	Args            []string
	WorkingDir      string `yaml:"workingDir"`
	Env             []struct{ Name, Value string }
	SecurityContext struct {
		ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

// render is what the chart makes of values, by kind.
func render(t *testing.T, set ...string) map[string]object {
	t.Helper()
	out := rendered(t, set...)
	all := map[string]object{}
	for d := yaml.NewDecoder(strings.NewReader(out)); ; {
		var o object
		err := d.Decode(&o)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[o.Kind] = o
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	for name, set := range values(t) {
		all := render(t, set...)
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

// The rendered commands run here as they would in a cluster, but for the addresses.
func TestCommands(t *testing.T) {
	t.Parallel()
	all := render(t, "--set", "clients.replicas=2,clients.wait=1m", "--set-json", `args=["--obj.size=4KiB","--objects=50","--duration=1s","--concurrent=2"]`, "--set", "benchmark=get")
	binary := filepath.Join(t.TempDir(), "warp")
	if out, err := exec.Command("go", "build", "-o", binary, "warp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var addrs []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs = append(addrs, l.Addr().String())
		l.Close()
	}
	store := teststore.Start(t, teststore.Embedded, teststore.Options{})
	env := []string{"PATH=" + os.Getenv("PATH"), "WARP_CLIENT_TOKEN=a token of the tests", "WARP_ACCESS_KEY=key", "WARP_SECRET_KEY=secretsecret", "WARP_HOST=" + store.Endpoint}
	for _, addr := range addrs {
		args := append([]string{}, all["StatefulSet"].Spec.Template.Spec.Containers[0].Args...)
		args[1] = strings.Replace(args[1], "0.0.0.0:7761", addr, 1)
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = t.TempDir(), env
		// The coordinator is there first, as it may be in a cluster.
		later := time.AfterFunc(time.Second, func() { _ = cmd.Start() })
		t.Cleanup(func() {
			if !later.Stop() && cmd.Process != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		})
	}
	folder := t.TempDir()
	args := append([]string{}, all["Job"].Spec.Template.Spec.Containers[0].Args...)
	if want := "--warp-client=warp-1-client-{0...1}.warp-client:7761"; args[1] != want {
		t.Errorf("%s, want %s", args[1], want)
	}
	args[1] = "--warp-client=" + strings.Join(addrs, ",")
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Env = folder, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if logs, _ := filepath.Glob(folder + "/warp-remote-*.csv.zst"); len(logs) != 1 {
		t.Errorf("logs %v\n%s", logs, out.String())
	}
}
