package doctest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"warp/internal/check"
	"warp/pkg/hostload"
	"warp/pkg/oplog"
)

// logLines returns the lines of an op log.
func logLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	check.OK(t, err)
	defer f.Close()
	d, err := zstd.NewReader(f)
	check.OK(t, err)
	defer d.Close()
	var text bytes.Buffer
	if _, err := io.Copy(&text, d); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

func comment(t *testing.T, l string) []byte {
	t.Helper()
	text, ok := strings.CutPrefix(l, "# ")
	if !ok || !json.Valid([]byte(text)) {
		t.Fatalf("this is not a comment with JSON: %.200s", l)
	}
	return []byte(text)
}

func TestOpLog(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	doc := read(t, "docs/oplog.md")
	// A rate of a hundred times what a worker can do leaves requests unsent.
	for _, name := range []string{"a", "b"} {
		mustWarp(t, 0, dir, "get", "--host=embedded", "--obj.size=4KiB", "--objects=10", "--concurrent=1", "--duration=1s",
			"--rps-limit=2000000", "--quiet", "--benchdata="+name)
	}
	mustWarp(t, 0, dir, "merge", "a.csv.zst", "b.csv.zst", "--benchdata=both")
	lines := logLines(t, filepath.Join(dir, "a.csv.zst"))
	merged := logLines(t, filepath.Join(dir, "both.csv.zst"))

	var documented []string
	for _, row := range doc.in(t, "Columns")[0].rows {
		documented = append(documented, strings.Trim(row[0], "`"))
	}
	// Only scripts have the first one, and only the logs of consistency have the others.
	rare := []string{"statement", "property", "outcome", "condition", "token_sent", "token_received"}
	if got := append(strings.Split(lines[0], "\t"), rare...); !slices.Equal(got, documented) {
		t.Errorf("the columns are\n%q\ndocumented are\n%q", got, documented)
	}
	comments := doc.in(t, "Comments")
	headerFields := slices.Concat(fields(reflect.TypeFor[oplog.Header]()), prefixed("merged.", fields(reflect.TypeFor[oplog.Origin]())),
		prefixed("workload.", fields(reflect.TypeFor[oplog.Workload]())), prefixed("checks.", fields(reflect.TypeFor[oplog.Checks]())), prefixed("replay.", fields(reflect.TypeFor[oplog.Replay]())),
		prefixed("replay.not_sent.", fields(reflect.TypeFor[oplog.NotSent]())))
	same(t, "second line", plain(comments[0].names()), headerFields)
	trailerFields := slices.Concat(fields(reflect.TypeFor[oplog.Trailer]()), prefixed("load.", fields(reflect.TypeFor[hostload.Load]())),
		prefixed("unsent_waits.", fields(reflect.TypeFor[oplog.Unsent]())), prefixed("unsent_stages.", fields(reflect.TypeFor[oplog.Unsent]())), prefixed("cut_off.", fields(reflect.TypeFor[oplog.CutOff]())),
		prefixed("pauses.", fields(reflect.TypeFor[oplog.Pause]())), prefixed("picks.", fields(reflect.TypeFor[oplog.Picks]())))
	same(t, "last line", plain(comments[1].names()), trailerFields)

	window := doc.in(t, "The window in the log")[0].names()
	same(t, "window", window, keys(t, []byte(`{"start":0,"begin":0,"end":0,"cold":0}`)))
	known := slices.Concat(headerFields, trailerFields, prefixed("merged.", slices.Clone(trailerFields)), // the trailer is in the last line
		prefixed("window.", slices.Clone(window)))

	// Everything in a real log must be documented too, whatever the types say.
	for _, l := range []string{lines[1], merged[1], lines[len(lines)-1], merged[len(merged)-1]} {
		for _, f := range keys(t, comment(t, l)) {
			if !slices.Contains(known, f) {
				t.Errorf("a log has the field %q, which is not documented", f)
			}
		}
	}
	real := keys(t, comment(t, lines[len(lines)-1]))
	for _, name := range []string{"unsent", "unsent_waits.until", "offered", "window.begin", "window.end"} {
		if !slices.Contains(real, name) {
			t.Errorf("the last line of an overloaded open loop has only %q", real)
		}
	}
	rows := slices.DeleteFunc(lines[1:], func(l string) bool { return strings.HasPrefix(l, "#") })
	checkRows(t, lines[0], rows)
}

// checkRows compares the documented meaning of rows with real rows.
func checkRows(t *testing.T, head string, rows []string) {
	t.Helper()
	columns := strings.Split(head, "\t")
	for _, l := range rows {
		row := map[string]string{}
		for i, cell := range strings.Split(l, "\t") {
			row[columns[i]] = cell
		}
		download := row["op"] == "GET"
		if download != (row["first_byte"] != "") || download == (row["last_byte"] != "") {
			t.Fatalf("a row of %s has first_byte %q and last_byte %q", row["op"], row["first_byte"], row["last_byte"])
		}
		if row["bytes"] != "4096" || row["n_objects"] != "1" || row["requests"] != "1" || row["retries"] != "0" || row["status"] != "200" {
			t.Fatalf("a row of %s is %q", row["op"], row)
		}
		if download != (row["sched"] != "") {
			t.Fatalf("a row of %s has sched %q", row["op"], row["sched"])
		}
	}
}

// fields returns the JSON names of a struct's own fields.
func fields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func prefixed(prefix string, names []string) []string {
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// plain removes the marks of arrays from documented names.
func plain(names []string) []string {
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], "[]", "")
	}
	return names
}

// keys returns the names in a JSON object, and one level below if the documentation lists those
// separately.
func keys(t *testing.T, text []byte) []string {
	t.Helper()
	var object map[string]any
	check.OK(t, json.Unmarshal(text, &object))
	var names []string
	for k, v := range object {
		names = append(names, k)
		if list, ok := v.([]any); ok && k == "merged" {
			v = list[0]
		}
		if inner, ok := v.(map[string]any); ok && k != "parameters" {
			for sub := range inner {
				names = append(names, k+"."+sub)
			}
		}
	}
	return names
}

func TestSegmentColumns(t *testing.T) {
	t.Parallel()
	dir := workplace(t)
	mustWarp(t, 0, dir, "put", "--host=embedded", "--obj.size=4KiB", "--concurrent=1", "--duration=1s", "--quiet",
		"--analyze.out=segments.tsv")
	text, err := os.ReadFile(filepath.Join(dir, "segments.tsv"))
	check.OK(t, err)
	head, _, _ := strings.Cut(string(text), "\n")
	doc := read(t, "docs/numbers.md")
	var documented []string
	for _, row := range doc.in(t, "Segments")[0].rows {
		documented = append(documented, strings.Trim(row[0], "`"))
	}
	documented = slices.DeleteFunc(documented, func(c string) bool { return c == "statement" }) // only scripts have it
	if got := strings.Split(head, "\t"); !slices.Equal(got, documented) {
		t.Errorf("the columns are\n%q\ndocumented are\n%q", got, documented)
	}
}

// warp's own error codes are the constants of pkg/store, and some in other packages without a
// constant.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "pkg/store/errors.go"), nil, 0)
	check.OK(t, err)
	codes := []string{"HTTP503", "RequestFailed", "Other"}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") || len(spec.Values) != 1 {
			return true
		}
		if text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value); err == nil {
			codes = append(codes, text)
		}
		return true
	})
	doc := read(t, "docs/numbers.md")
	same(t, "error codes", doc.in(t, "Errors")[0].names(), codes)
	troubleshooting := read(t, "docs/troubleshooting.md")
	for _, name := range missing(codes, troubleshooting.in(t, "Errors during the run")[0].names()) {
		t.Errorf("docs/troubleshooting.md has no remedy for %s", name)
	}
}
