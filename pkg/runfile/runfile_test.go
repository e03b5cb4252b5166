package runfile

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := Parse("f.yml", []byte("{{if true}}\n{{- end}}\nwarp:\n  api: v1\n  remote: {host: [a, b], region: ''}\n  benchmarks:\n    - {benchmark: put, obj: {size: '{{.Size}}', rand-size: true}}\n    - benchmark: get\n"),
		map[string]string{"Size": "1MiB", "Other": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Benchmarks) != 2 || f.Benchmarks[1].Line != 8 || len(f.Unused) != 1 {
		t.Fatalf("%+v", f)
	}
	put := f.Benchmarks[0].Settings
	if len(put) != 3 || put[0].Flag != "obj.size" || put[0].Values[0] != "1MiB" || put[0].Line != 7 || put[1].Flag != "obj.randsize" || !put[2].List {
		t.Errorf("%+v", put)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const head = "warp:\n  api: v1\n  benchmark: get\n"
	for text, want := range map[string]string{
		"":                          "f.yml: there is no benchmark in it",
		head + "  api: v1\n":        "f.yml:4: warp.api is there twice; line 2 has it first",
		head + "  io: 5\n":          "f.yml:4: warp.io wants keys below it, and is a single value",
		head + "  prams: {a: 1}\n":  "f.yml:4: warp.prams has keys below it, and is no section; did you mean params?",
		head + "  x: '{{.Size}}'\n": "f.yml:4: nobody gave the variable Size; add --var Size=VALUE",
		head + "  x: &a {<<: *a}\n": "f.yml:4:",
		head + " x\n":               "f.yml:3: this is no YAML",
		"warp:\n  benchmark: get\n": "f.yml:1: warp.api is missing; write api: v1",
		"warp:\n  api: v2\n":        "f.yml:2: warp.api is not v1",
		"wrap: {}\n":                "f.yml:1: unknown key \"wrap\" beside warp; did you mean warp?",
		head + "  obj.size: 1\n  obj: {size: 2}\n": "f.yml:5: warp.obj.size says what warp.obj.size in line 4 says already",
	} {
		if _, err := Parse("f.yml", []byte(text), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
