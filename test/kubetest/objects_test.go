package kubetest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"warp/internal/check"
	"warp/internal/teststore"
)

const (
	manifests = "../../k8s/manifests/warp.yaml"
	preamble  = `# Made from the chart in k8s/helm/warp, for those who do not use Helm; see docs/kubernetes.md. Do not edit: make it anew.
#   helm template warp k8s/helm/warp -f k8s/helm/warp/ci/manifests-values.yaml
`
)

// rendered returns the output of helm template for a set of values.
func rendered(t *testing.T, set ...string) string {
	t.Helper()
	out, err := helm(t, append([]string{"template", "warp", chart}, set...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// The plain manifests are the same as the chart's.
func TestManifests(t *testing.T) {
	t.Parallel()
	want := preamble + rendered(t, "-f", chart+"/ci/manifests-values.yaml")
	check.Golden(t, manifests, want)
}

// kinds are the kinds of objects in the chart.
var kinds = map[string]bool{
	"ConfigMap": true, "Job": true, "NetworkPolicy": true, "PersistentVolumeClaim": true, "Secret": true, "Service": true, "StatefulSet": true,
}

// schemas creates a JSON schema for each kind from Kubernetes' own description of its API, and
// returns their directory.
func schemas(t *testing.T) string {
	t.Helper()
	source, err := teststore.KubernetesSource(t.Context())
	if err != nil {
		unavailable(t, err)
	}
	text, err := os.ReadFile(filepath.Join(source, "api", "openapi-spec", "swagger.json"))
	check.OK(t, err)
	var api struct{ Definitions map[string]map[string]any }
	check.OK(t, json.Unmarshal(text, &api))
	dir := t.TempDir()
	for _, def := range api.Definitions {
		var of struct {
			Names []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
		}
		check.OK(t, remarshal(def, &of))
		if len(of.Names) != 1 || !kinds[of.Names[0].Kind] {
			continue
		}
		name := of.Names[0]
		group, _, _ := strings.Cut(name.Group, ".")
		// The core group has no name and is not in the file name.
		file := strings.ToLower(strings.ReplaceAll(name.Kind+"-"+group+"-"+name.Version, "--", "-"))
		schema, err := json.Marshal(strict(def, api.Definitions))
		check.OK(t, err)
		check.OK(t, os.WriteFile(filepath.Join(dir, file+".json"), schema, 0o600))
	}
	return dir
}

func remarshal(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// strict inlines references, and forbids properties that are not described.
func strict(v any, defs map[string]map[string]any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = strict(v[i], defs)
		}
		return list
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, "#/definitions/")
			if strings.HasSuffix(name, ".IntOrString") || strings.HasSuffix(name, ".Quantity") {
				return map[string]any{"type": []string{"string", "number"}}
			}
			return strict(defs[name], defs)
		}
		all := map[string]any{}
		for key, value := range v {
			all[key] = strict(value, defs)
		}
		if _, open := all["additionalProperties"]; !open && all["properties"] != nil {
			all["additionalProperties"] = false
		}
		return all
	}
	return v
}

// unavailable skips the test if a program is not available, and fails in CI.
func unavailable(t *testing.T, err error) {
	t.Helper()
	if teststore.MaySkip(err) {
		t.Skipf("SKIPPED, the chart is not tested: %v", err)
	}
	t.Fatal(err)
}

// Every object has only properties that Kubernetes knows, with the right types.
func TestKubeconform(t *testing.T) {
	t.Parallel()
	binary, err := teststore.Ensure(t.Context(), teststore.Kubeconform)
	if err != nil {
		unavailable(t, err)
	}
	location := filepath.Join(schemas(t), "{{ .ResourceKind }}{{ .KindSuffix }}.json")
	conform := func(objects string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary, "-strict", "-summary", "-schema-location", location, "-")
		cmd.Stdin = strings.NewReader(objects)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for name, set := range values(t) {
		objects := rendered(t, set...)
		out, err := conform(objects)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		// Mistakes are detected.
		for _, to := range []string{"backoffLimits: 0", `backoffLimit: "none"`} {
			if out, err := conform(strings.Replace(objects, "backoffLimit: 0", to, 1)); err == nil {
				t.Errorf("%s: %s is valid\n%s", name, to, out)
			}
		}
	}
}

// strictKubernetes starts a Kubernetes with a namespace "load" that warns about every unrestricted
// pod.
func strictKubernetes(t *testing.T) *teststore.Kubernetes {
	t.Helper()
	k := teststore.StartKubernetes(t)
	namespace := `{"metadata":{"name":"load","labels":{"pod-security.kubernetes.io/warn":"restricted"}}}`
	if _, err := k.Do(t.Context(), http.MethodPost, "/api/v1/namespaces", "application/json", namespace); err != nil {
		t.Fatal(err)
	}
	return k
}

// A real API server accepts every object, without warnings in a namespace for restricted pods.
func TestServerSideDryRun(t *testing.T) {
	t.Parallel()
	k := strictKubernetes(t)
	for name, set := range values(t) {
		objects := rendered(t, set...)
		for _, one := range split(t, objects) {
			if warnings, err := apply(t, k, one); err != nil || len(warnings) > 0 {
				t.Errorf("%s: %v %s", name, err, warnings)
			}
		}
	}
	// Invalid objects are rejected, and unsafe ones cause warnings.
	objects := rendered(t)
	for from, to := range map[string]string{
		"backoffLimit: 0": "backoffLimits: 0", "serviceName: warp-client": "serviceName: {}", "clusterIP: None": "clusterIP: nowhere",
		"restartPolicy: Never": "restartPolicy: Always", "runAsNonRoot: true": "runAsNonRoot: false", "drop: [ALL]": "drop: []",
	} {
		if !strings.Contains(objects, from) {
			t.Errorf("%s is not in\n%s", from, objects)
		}
		seen := false
		for _, one := range split(t, strings.Replace(objects, from, to, 1)) {
			warnings, err := apply(t, k, one)
			seen = seen || err != nil || len(warnings) > 0
		}
		if !seen {
			t.Errorf("nothing is said of %s", to)
		}
	}
}

// split returns one text per object, with anchors resolved.
func split(t *testing.T, objects string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for d := yaml.NewDecoder(strings.NewReader(objects)); ; {
		var one map[string]any
		err := d.Decode(&one)
		if err == io.EOF {
			return all
		}
		check.OK(t, err)
		if one != nil {
			all = append(all, one)
		}
	}
}

// apply is a server-side apply as a dry run.
func apply(t *testing.T, k *teststore.Kubernetes, object map[string]any) (warnings []string, err error) {
	t.Helper()
	var o struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
	}
	check.OK(t, remarshal(object, &o))
	path := "/apis/" + o.APIVersion
	if !strings.Contains(o.APIVersion, "/") {
		path = "/api/" + o.APIVersion
	}
	plural := strings.ToLower(o.Kind) + "s"
	if stem, y := strings.CutSuffix(plural, "ys"); y {
		plural = stem + "ies"
	}
	text, err := json.Marshal(object)
	check.OK(t, err)
	path += "/namespaces/load/" + plural + "/" + url.PathEscape(o.Metadata.Name) + "?dryRun=All&force=true&fieldManager=tests&fieldValidation=Strict"
	return k.Do(t.Context(), http.MethodPatch, path, "application/apply-patch+yaml", string(text))
}
