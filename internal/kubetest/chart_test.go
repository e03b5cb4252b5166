package kubetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warp/internal/teststore"
)

const chart = "../../k8s/helm/warp"

// helm runs Helm, which is built at first use.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return helmAt(t, "/dev/null", args...)
}

// helmAt runs Helm with a file that says where the cluster is.
func helmAt(t *testing.T, config string, args ...string) (string, error) {
	t.Helper()
	binary, err := teststore.Ensure(t.Context(), teststore.Helm)
	if err != nil {
		unavailable(t, err)
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "KUBECONFIG="+config)
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
		"config=a,benchmark=get":                   "leave out one of them",
		"store.ca.configMap=a,store.ca.secret=b":   "leave out one of them",
		"store.ca.configMap=a":                     "store.tls",
		"store.tls=true,store.ca.configmap=a":      "configmap",
		"config=warp-client: a":                    "leave it out",
		"config= - warp-client: a":                 "leave it out",
		"config=warp: {'warp-client-wait': 1m":     "leave it out",
		"results.claim=false":                      "must be given",
		"results.upload=https://h/b":               "results.uploadSecret",
		"results.upload=h/b":                       "upload",
		"results.uploadSecret=a":                   "with results.upload only",
		"egress=all":                               "egress",
		"replicaCount=3,service.port=7761":         "replicaCount is clients.replicas; service is not needed",
	} {
		if out, err := helm(t, "template", "warp", chart, "--set", set); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
}
