package kubetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warp/internal/check"
)

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)```")

// The YAML in the page is valid: Kubernetes accepts the objects, and the chart the values.
func TestDocumentedYAML(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/kubernetes.md")
	check.OK(t, err)
	blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 5 {
		t.Fatalf("found only %d blocks", len(blocks))
	}
	k := strictKubernetes(t)
	for _, b := range blocks {
		if !strings.Contains(b[1], "kind: ") {
			file := filepath.Join(t.TempDir(), "my-values.yaml")
			check.OK(t, os.WriteFile(file, []byte(b[1]), 0o600))
			if out, err := helm(t, "lint", "--strict", chart, "-f", file); err != nil {
				t.Errorf("%v\n%s\n%s", err, out, b[1])
			}
			continue
		}
		for _, one := range split(t, b[1]) {
			if warnings, err := apply(t, k, one); err != nil || len(warnings) > 0 {
				t.Errorf("%v %s\n%s", err, warnings, b[1])
			}
		}
	}
}
