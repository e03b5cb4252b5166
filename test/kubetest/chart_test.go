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

// helmAt runs Helm with a kubeconfig file.
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

// values are the tested sets of values, by name.
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

// Invalid values are rejected before anything is installed.
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
	} {
		if out, err := helm(t, "template", "warp", chart, "--set", set); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
}

// TestForeignValues checks that each value of MinIO's chart is rejected with its name and the value
// to use instead, all in one error.
func TestForeignValues(t *testing.T) {
	t.Parallel()
	foreign := map[string]string{
		"replicaCount=3":                       "replicaCount (use clients.replicas)",
		"configFile=warp:":                     "configFile (use config)",
		"warpConfiguration.s3ServerURL=h:9000": "warpConfiguration (use store.host",
		"warpJobArgs.duration=1m":              "warpJobArgs (use args",
		"serverResources.limits.cpu=1":         "serverResources (use coordinator.resources)",
		"clientResources.limits.cpu=1":         "clientResources (use clients.resources)",
		"nodeSelector.a=b":                     "nodeSelector (use clients.nodeSelector and coordinator.nodeSelector)",
		"tolerations[0].key=a":                 "tolerations (use clients.tolerations and coordinator.tolerations)",
		"affinity.podAntiAffinity.a=b":         "affinity (use clients.topologyKey",
		"nameOverride=a":                       "nameOverride (leave it out",
		"fullnameOverride=a":                   "fullnameOverride (leave it out",
		"job.restartOnUpgrade=true":            "job (leave it out",
		"serviceAccount.create=true":           "serviceAccount (leave it out",
		"securityContext.runAsUser=1":          "securityContext (leave it out",
		"podSecurityContext.fsGroup=1":         "podSecurityContext (leave it out",
		"service.port=7761":                    "service (leave it out",
	}
	args := []string{"template", "warp", chart}
	for set := range foreign {
		args = append(args, "--set", set)
	}
	out, err := helm(t, args...)
	if err == nil {
		t.Fatalf("all of them are taken:\n%s", out)
	}
	for set, want := range foreign {
		if !strings.Contains(out, want) {
			t.Errorf("%s: want %q in %s", set, want, out)
		}
	}
	read := []string{"image.repository=r/warp", "image.pullPolicy=Always", "imagePullSecrets[0].name=pull"}
	if out, err := helm(t, "template", "warp", chart, "--set", strings.Join(read, ",")); err != nil ||
		!strings.Contains(out, "r/warp:") || !strings.Contains(out, "Always") || !strings.Contains(out, "name: pull") {
		t.Errorf("%v: what both charts have is not read:\n%s", err, out)
	}
}
