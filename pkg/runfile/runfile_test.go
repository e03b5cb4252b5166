package runfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"warp/internal/check"
)

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := Parse("f.yml", []byte("{{if true}}\n{{- end}}\nwarp:\n  api: v1\n  remote: {host: [a, b], region: ''}\n  benchmarks:\n    - {benchmark: put, obj: {size: '{{.Size}}', rand-size: true}}\n    - benchmark: get\n"),
		map[string]string{"Size": "1MiB", "Other": "x"})
	check.OK(t, err)
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
		head + "  api: v1\n":        "f.yml:4: warp.api occurs twice; line 2 has it first",
		head + "  io: 5\n":          "f.yml:4: warp.io must have keys below it, but is a single value",
		head + "  prams: {a: 1}\n":  "f.yml:4: warp.prams has keys below it, but is not a section; did you mean params?",
		head + "  x: '{{.Size}}'\n": "f.yml:4: the variable Size has no value; add --var Size=VALUE",
		head + "  x: &a {<<: *a}\n": "f.yml:4:",
		head + " x\n":               "f.yml:3: this is not YAML",
		"warp:\n  benchmark: get\n": "f.yml:1: warp.api is missing; write api: v1",
		"warp:\n  api: v2\n":        "f.yml:2: warp.api must be v1",
		"wrap: {}\n":                "f.yml:1: unknown key \"wrap\" beside warp; did you mean warp?",
		head + "  obj.size: 1\n  obj: {size: 2}\n": "f.yml:5: warp.obj.size repeats warp.obj.size of line 4",
	} {
		if _, err := Parse("f.yml", []byte(text), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A template that would never end, or fill the memory, is refused.
func TestTemplateLimits(t *testing.T) {
	t.Parallel()
	var deep strings.Builder
	for i := range 50 {
		fmt.Fprintf(&deep, `{{define "t%d"}}{{template "t%d"}}{{template "t%d"}}{{end}}`, i, i+1, i+1)
	}
	deep.WriteString(`{{define "t50"}}{{end}}{{template "t0"}}`)
	for text, want := range map[string]string{
		`{{range 1000000000000}}{{end}}`:                      "repeats too often",
		`{{range 1000000}}aaaaaaaaaaaaaaaaaaaaaaaaaaa{{end}}`: "more than 1 MiB",
		deep.String(): "repeats too often",
		`{{$x := "aa"}}{{range 60}}{{$x = print $x $x}}{{end}}`:         "more than 1 MiB",
		`{{$x := "aa"}}{{range 60}}{{$x = printf "%s%[1]s" $x}}{{end}}`: "more than 1 MiB",
		`{{printf "%900000d" 1}}`:                                       "a width above 999",
		`{{printf "%*d" 900000 1}}`:                                     "a width above 999",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`:         "depth",
		`{{"\x00"}}`:      "a zero byte",
		`{{"\x00x\x00"}}`: "a zero byte",
	} {
		if _, err := Parse("f.yml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	slow := &limited{until: time.Now().Add(-time.Second)}
	if _, err := slow.Write([]byte("x")); !errors.Is(err, errTooSlow) {
		t.Errorf("behind its time: %v", err)
	}
}

// Whatever the text, the lines of benchmarks and settings are lines of it, errors are one line, and nothing is left of
// the numbers that templates take along.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "warp:\n  api: v1\n  benchmark: get\n  params: {objects: 5, obj: {size: 1KiB}}\n",
		"warp:\n  api: v1\n  remote:\n    host: [a, b]\n  benchmarks:\n    - benchmark: put\n    - {benchmark: get, autoterm: {enabled: true}}\n",
		"x-a: &a {objects: 5}\nwarp:\n  api: v1\n  benchmark: get\n  params:\n    <<: *a\n---\nwarp: {api: v1, benchmark: stat}\n",
		"{{range 3}}\n---\nwarp: {api: v1, benchmark: '{{$.Name}}'}\n{{end}}", "warp: &a {api: v1, benchmark: get, io: *a}\n",
		"{{define \"x\"}}a{{end}}warp: {{template \"x\"}}", "a: [[[[", "{{\"\\x00\"}}", "warp:\n\tapi: v1", "%YAML 9\n---\n", "warp: !!set {a}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f.yml", []byte(text), map[string]string{"Name": "put"})
		last := 1 + strings.Count(text, "\n")
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line > last || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("%q: %q", text, err)
			}
			return
		}
		for _, b := range file.Benchmarks {
			if b.Line < 1 || b.Line > last || b.Name == "" {
				t.Fatalf("%q: %+v", text, b)
			}
			for _, s := range b.Settings {
				if s.Line < 1 || s.Line > last || s.Flag == "" || len(s.Values) == 0 || strings.ContainsAny(strings.Join(s.Values, ""), "\n\x00") {
					t.Fatalf("%q: %+v", text, s)
				}
			}
		}
	})
}
