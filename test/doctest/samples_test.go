package doctest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"warp/internal/check"
	"warp/internal/teststore"
)

// samples are the files in samples, with the options that make each quick, and a store that
// supports it.
func samples() map[string]struct{ store, args string } {
	return map[string]struct{ store, args string }{
		"get":           {teststore.Embedded, "--objects=20 --obj.size=4KiB"},
		"put":           {teststore.Embedded, "--obj.size=4KiB"},
		"post":          {teststore.Embedded, "--obj.size=4KiB"},
		"delete":        {teststore.Embedded, "--objects=100 --batch=10"},
		"list":          {teststore.Embedded, "--objects=100"},
		"stat":          {teststore.Embedded, "--objects=20"},
		"mixed":         {teststore.Embedded, "--objects=40 --obj.size=4KiB"},
		"versioned":     {teststore.Embedded, "--objects=40 --obj.size=4KiB"},
		"retention":     {teststore.Embedded, "--objects=10"},
		"zip":           {teststore.MinIO, "--files=50"},
		"snowball":      {teststore.MinIO, "--obj.size=1KiB --objs.per=5"},
		"fanout":        {teststore.MinIO, "--obj.size=1KiB --copies=5"},
		"multipart":     {teststore.Embedded, "--parts=2"},
		"multipart-put": {teststore.Embedded, "--parts=2 --part.concurrent=2"},
		"copy":          {teststore.Embedded, "--objects=10 --obj.size=4KiB"},
		"append":        {teststore.Embedded, "--obj.size=1KiB"},
		"tagging":       {teststore.Embedded, "--objects=10"},
		"consistency":   {teststore.Embedded, ""},
		"script":        {teststore.Embedded, ""},
		"suite":         {teststore.Embedded, "--var Size=4KiB"},
		"sweep":         {teststore.Embedded, "--objects=20"},
	}
}

const schemaFile = "docs/warp-run.schema.json"

// TestSamples runs each file in samples, and validates it against its schema.
func TestSamples(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(root, "samples", "*.yml"))
	check.OK(t, err)
	var names, tested []string
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".yml"))
	}
	for name := range samples() {
		tested = append(tested, name)
	}
	same(t, "samples", names, tested)
	wanted := slices.DeleteFunc(benchmarks(t), func(name string) bool { return name == "aisloader" || name == "replay" }) // of a command line, and of an op log
	same(t, "samples", names, append(wanted, "post", "suite", "sweep"))
	form := compiledSchema(t)
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := filepath.Abs(filepath.Join(root, "samples", name+".yml"))
			check.OK(t, err)
			text, err := os.ReadFile(path)
			check.OK(t, err)
			if !strings.HasPrefix(string(text), "# yaml-language-server: $schema=../"+schemaFile+"\n# ") {
				t.Error("the file does not begin with its schema and what it does")
			}
			if err := form.Validate(values(t, string(text))); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
			dir := workplace(t)
			mustWarp(t, 0, dir, append([]string{"run", path, "--dry-run"}, variables(s.args)...)...)
			runSample(t, dir, path, s.store, strings.Fields(s.args))
		})
	}
}

// TestReferenceWorkloads holds the identities of the reference workloads, which results are published with, against the page.
func TestReferenceWorkloads(t *testing.T) {
	t.Parallel()
	form, dir := compiledSchema(t), workplace(t)
	var documented, real []string
	page := read(t, "docs/identity.md")
	for _, row := range page.in(t, "Reference workloads")[0].rows {
		name, _, _ := strings.Cut(strings.TrimPrefix(row[0], "["), "]")
		documented = append(documented, name+" "+strings.Trim(row[2], "`"))
	}
	for name, path := range runFiles(t, "reference") {
		checkForm(t, form, path)
		ids := plannedWorkloads(t, mustWarp(t, 0, dir, "run", path, "--dry-run", "--json").out)
		if len(ids) != 1 {
			t.Fatalf("%s has %d benchmarks", path, len(ids))
		}
		real = append(real, name+" "+ids[0])
	}
	same(t, "identities", documented, real)
}

// TestSuites plans each suite, and runs the quick one for a moment. All reference workloads are in the standard one.
func TestSuites(t *testing.T) {
	t.Parallel()
	form, dir := compiledSchema(t), workplace(t)
	files := runFiles(t, "suites")
	var names, documented []string
	page := read(t, "docs/identity.md")
	for _, row := range page.in(t, "Suites")[0].rows {
		name, _, _ := strings.Cut(strings.TrimPrefix(row[0], "["), "]")
		documented = append(documented, name)
	}
	for name, path := range files {
		names = append(names, name)
		checkForm(t, form, path)
		args := []string{"run", path, "--dry-run"}
		if name == "full" {
			mustWarp(t, 2, dir, args...) // what is to fail, nobody knows
			args = append(args, "--var", "Break=true", "--var", "Repair=true")
		}
		mustWarp(t, 0, dir, args...)
	}
	same(t, "suites", names, documented)
	planned := plannedWorkloads(t, mustWarp(t, 0, dir, "run", files["standard"], "--dry-run", "--json").out)
	for _, row := range page.in(t, "Reference workloads")[0].rows {
		if id := strings.Trim(row[2], "`"); !slices.Contains(planned, id) {
			t.Errorf("the standard suite does not have the workload %s of %s", id, row[0])
		}
	}
	short := []string{"run", files["quick"], "--no-color"}
	for _, v := range []string{"Host=embedded", "Each=1s", "Workers=4", "Small=50", "Large=4", "LargeSize=64KiB", "MixedSize=4KiB"} {
		short = append(short, "--var", v)
	}
	if r := mustWarp(t, 0, dir, short...); strings.Count(r.out, "errors<=0% holds") != 7 {
		t.Errorf("not all benchmarks were judged:\n%s", r.all)
	}
}

// runFiles returns the files for warp run in a folder of the samples, by name.
func runFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "samples", folder, "*.yml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("samples/%s: %v", folder, err)
	}
	files := map[string]string{}
	for _, p := range paths {
		if files[strings.TrimSuffix(filepath.Base(p), ".yml")], err = filepath.Abs(p); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// checkForm checks that a file follows the schema that it names.
func checkForm(t *testing.T, form *jsonschema.Schema, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	check.OK(t, err)
	if !strings.HasPrefix(string(text), "# yaml-language-server: $schema=../../"+schemaFile+"\n# ") {
		t.Errorf("%s does not begin with its schema and what it does", path)
	}
	if err := form.Validate(values(t, string(text))); err != nil {
		t.Errorf("the schema refuses %s: %v", path, err)
	}
}

// plannedWorkloads returns the identities in the dry runs of several benchmarks.
func plannedWorkloads(t *testing.T, documents string) (ids []string) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(documents)); d.More(); {
		var plan struct{ Workload struct{ ID string } }
		check.OK(t, d.Decode(&plan))
		if plan.Workload.ID != "" { // sweeps have none
			ids = append(ids, plan.Workload.ID)
		}
	}
	return ids
}

// TestDocumentedRunFiles makes warp read the files for warp run that pages show without running
// them.
func TestDocumentedRunFiles(t *testing.T) {
	t.Parallel()
	form, dir, found := compiledSchema(t), workplace(t), 0
	for _, d := range documents(t) {
		for _, b := range d.blocks {
			if b.language != "yaml" || !strings.HasPrefix(b.text, "warp:\n") {
				continue
			}
			found++
			if err := form.Validate(values(t, b.text)); err != nil {
				t.Errorf("%s:%d: the schema refuses it: %v", d.name, b.number, err)
			}
			path := filepath.Join(dir, fmt.Sprintf("%d.yml", found))
			check.OK(t, os.WriteFile(path, []byte(b.text), 0o600))
			if r := warp(t, dir, "run", path, "--dry-run", "--access-key=a", "--secret-key=b"); r.code != 0 {
				t.Errorf("%s:%d: %s%s", d.name, b.number, r.out, r.errout)
			}
		}
	}
	if found < 2 {
		t.Errorf("found %d files", found)
	}
}

// variables returns the variables for the arguments that the file requires.
func variables(args string) []string {
	if strings.HasPrefix(args, "--var ") {
		return strings.Fields(args)
	}
	return nil
}

func runSample(t *testing.T, dir, path, store string, args []string) {
	t.Helper()
	report := regexp.MustCompile(`(?m)^(Operation: |Mixed operations|get over obj.size: )`)
	if strings.HasSuffix(path, "script.yml") { // its statements contain the durations
		args, report = append([]string{"run", path, "--no-color"}, args...), regexp.MustCompile(`(?m)^  FINAL `)
	} else {
		args = append([]string{"run", path, "--duration=200ms", "--concurrent=2", "--no-color"}, args...)
	}
	switch store {
	case teststore.Embedded:
		args = append(args, "--host=embedded")
	default:
		s := stores.Shared(t, store)
		bucket := strings.ToLower("sample-" + strings.TrimSuffix(filepath.Base(path), ".yml"))
		args = append(args, "--host="+s.Endpoint, "--access-key="+s.AccessKey, "--secret-key="+s.SecretKey, "--bucket="+bucket, "--region="+s.Region)
	}
	if r := mustWarp(t, 0, dir, args...); !report.MatchString(r.out) {
		t.Errorf("there is no report:\n%s", r.all)
	}
}

// benchmarks returns the commands under that title.
func benchmarks(t *testing.T) (names []string) {
	_, list, _ := strings.Cut(mustWarp(t, 0, workplace(t), "--help").out, "\nBenchmarks\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(root, schemaFile))
	check.OK(t, err)
	return s
}

// values returns the values of a YAML document, as in JSON.
func values(t *testing.T, text string) any {
	t.Helper()
	var fromYAML any
	check.OK(t, yaml.Unmarshal([]byte(text), &fromYAML))
	asJSON, err := json.Marshal(fromYAML)
	check.OK(t, err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	check.OK(t, err)
	return v
}

// TestSchema checks that the schema accepts valid files and rejects invalid ones. TestSamples
// covers the samples.
func TestSchema(t *testing.T) {
	t.Parallel()
	form := compiledSchema(t)
	for text, fine := range map[string]bool{
		"{warp: {api: v1, benchmark: get}}": true,
		"{x-a: 1, warp: {api: v1, benchmark: get, params: {objects: '{{.N}}', obj: {size: 5}}}}": true,
		"{warp: {api: v1, benchmark: get, remote: {host: [a, b], insecure: true, region: }}}":    true,
		"{warp: {api: v1, benchmarks: [{benchmark: put, duration: 5s}], autoterm: true}}":        true,
		"{warp: {api: v2, benchmark: get}}":                                                      false,
		"{warp: {api: v1, benchmark: gte}}":                                                      false,
		"{warp: {api: v1}}":                                                                      false,
		"{warp: {api: v1, benchmark: get, params: {objcts: 5}}}":                                 false,
		"{warp: {api: v1, benchmark: get, params: {objects: many}}}":                             false,
		"{warp: {api: v1, benchmark: get, params: {objects: [5]}}}":                              false,
		"{warp: {api: v1, benchmark: get, params: {io: {}}}}":                                    false,
		"{warp: {api: v1, benchmark: get, benchmarks: [{benchmark: get}]}}":                      false,
		"{warp: {api: v1, benchmark: get}, wrap: 1}":                                             false,
	} {
		if err := form.Validate(values(t, text)); (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
}
