package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"

	"go.yaml.in/yaml/v3"
)

// A ciJob is a job of a CI system: its shell lines, and the files that it keeps.
type ciJob struct {
	name  string
	lines []string
	files []string
}

// TestCIJobs runs the shell lines of the documented jobs, in order, as their
// CI system does.
func TestCIJobs(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			if b.language != "yaml" || !strings.Contains(b.text, "warp ") {
				continue
			}
			for _, job := range ciJobs(t, b, kinds) {
				t.Run(strings.ReplaceAll(d.name, "/", "-")+"-"+job.name, func(t *testing.T) {
					t.Parallel()
					job.run(t)
				})
			}
		}
	}
	if kinds["GitHub"] < 2 || kinds["GitLab"] < 2 {
		t.Errorf("documented jobs: %v", kinds)
	}
}

// ciJobs parses a workflow for GitHub Actions, or jobs for GitLab. Other YAML has none.
func ciJobs(t *testing.T, b block, kinds map[string]int) (all []ciJob) {
	t.Helper()
	var file map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(b.text), &file); err != nil {
		t.Fatalf("line %d: %v", b.number, err)
	}
	if _, ok := file["jobs"]; ok {
		kinds["GitHub"]++
		return gitHubJobs(t, b)
	}
	for name, node := range file {
		var job gitLabJob
		if strings.HasPrefix(name, ".") || node.Kind != yaml.MappingNode || !strings.Contains(b.text, "\n  script:") {
			continue
		}
		decodeStrictly(t, b, &node, &job)
		if len(job.Script) == 0 {
			t.Errorf("line %d: the job %s has no script", b.number, name)
		}
		kinds["GitLab"]++
		files := slices.Clone(job.Artifacts.Paths)
		if job.Artifacts.Reports.JUnit != "" {
			files = append(files, job.Artifacts.Reports.JUnit)
		}
		all = append(all, ciJob{name, job.Script, files})
	}
	return all
}

// A gitLabJob contains the keywords of GitLab that the documentation uses.
type gitLabJob struct {
	Script       []string
	AllowFailure struct {
		ExitCodes []int `yaml:"exit_codes"`
	} `yaml:"allow_failure"`
	Artifacts struct {
		When    string
		Paths   []string
		Reports struct{ JUnit string }
	}
}

func gitHubJobs(t *testing.T, b block) (all []ciJob) {
	var workflow struct {
		Name string
		On   any
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Env    map[string]string
			Steps  []struct {
				Uses, Run, If string
				With          map[string]string
			}
		}
	}
	var node yaml.Node
	check.OK(t, yaml.Unmarshal([]byte(b.text), &node))
	decodeStrictly(t, b, &node, &workflow)
	if workflow.Name == "" || workflow.On == nil {
		t.Errorf("line %d: the workflow has no name, or does not say when it runs", b.number)
	}
	for name, j := range workflow.Jobs {
		job := ciJob{name: name}
		if j.RunsOn == "" || len(j.Steps) == 0 {
			t.Errorf("line %d: the job %s has no runner, or no steps", b.number, name)
		}
		for _, step := range j.Steps {
			if (step.Uses == "") == (step.Run == "") {
				t.Errorf("line %d: a step of the job %s has not exactly one of uses and run", b.number, name)
			}
			if step.Run != "" {
				job.lines = append(job.lines, step.Run)
			}
			for _, key := range []string{"path", "output-file-path"} {
				job.files = append(job.files, strings.Fields(step.With[key])...)
			}
		}
		all = append(all, job)
	}
	return all
}

// decodeStrictly rejects unknown keys.
func decodeStrictly(t *testing.T, b block, node *yaml.Node, into any) {
	t.Helper()
	text, err := yaml.Marshal(node)
	if err == nil {
		d := yaml.NewDecoder(strings.NewReader(string(text)))
		d.KnownFields(true)
		err = d.Decode(into)
	}
	if err != nil {
		t.Fatalf("line %d: %v", b.number, err)
	}
}

var minute = regexp.MustCompile(`--duration=1m\b`)

// run runs the lines against the embedded store, with a shorter duration. The same lines first make
// a baseline.
func (j *ciJob) run(t *testing.T) {
	dir := workplace(t)
	env := []string{"WARP_HOST=embedded", "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	shell := func(line string) result {
		return run(t, dir, env, "sh", "-ec", minute.ReplaceAllString(line, "--duration=400ms"))
	}
	checks := slices.IndexFunc(j.lines, func(l string) bool { return strings.Contains(l, "warp baseline check main ") })
	if checks > 0 {
		for _, line := range j.lines[:checks] {
			shell(line)
		}
		if r := shell(strings.Replace(j.lines[checks], "check", "save", 1) + "; rm run-*.json"); r.code != 0 {
			t.Fatalf("saving a baseline: %s", r.all)
		}
	}
	for i, line := range j.lines {
		r := shell(line)
		judges := strings.Contains(line, "--assert") || i == checks
		// A busy machine can be too slow for a verdict, or for the limit.
		if r.code != 0 && (!judges || r.code != 4 && r.code != 5) {
			t.Fatalf("exit code %d of\n%s\nwhich wrote\n%s", r.code, line, r.all)
		}
		if i == checks && !strings.Contains(r.all, "warp-baseline/main: 6 runs -> run-*.json: 6 runs") {
			t.Errorf("the check has compared something else:\n%s", r.all)
		}
	}
	for _, name := range j.files {
		if found, _ := filepath.Glob(filepath.Join(dir, name)); len(found) == 0 {
			t.Errorf("there is no file %s after the job", name)
		}
	}
}
