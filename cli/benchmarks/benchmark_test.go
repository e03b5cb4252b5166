package benchmarks

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/bench"
	"warp/pkg/consistency"
	"warp/pkg/generator"
)

// The table names all requests that operations make.
func TestRequestsAreNamed(t *testing.T) {
	t.Parallel()
	var files []string
	for _, folder := range []string{"../../pkg/bench", "../../pkg/bench/ops"} {
		more, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(more) == 0 {
			t.Fatalf("read %d files of %s: %v", len(more), folder, err)
		}
		files = append(files, more...)
	}
	measured := regexp.MustCompile(`(?:Measure\([a-z.]+, |whole: |part: )"([A-Z]+)"`)
	made := []string{consistency.Complete, consistency.Abort} // constants of its workloads
	for _, name := range files {
		text, err := os.ReadFile(name)
		check.OK(t, err)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range measured.FindAllSubmatch(text, -1) {
			made = append(made, string(m[1]))
		}
	}
	slices.Sort(made)
	named := RequestNames()
	slices.Sort(named)
	if made = slices.Compact(made); !slices.Equal(made, named) {
		t.Errorf("operations make the requests %v, and the table names %v", made, named)
	}
}

// The documentation of the op log says of all requests whether they move payload.
func TestRequestsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/oplog.md")
	check.OK(t, err)
	_, section, _ := strings.Cut(string(text), "## What one row is\n")
	section, _, _ = strings.Cut(section, "\nA row ")
	var documented, empty []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z, ]+) \|[^|]*\|[^|]*\| ([^|]*) \|`).FindAllStringSubmatch(section, -1) {
		names := strings.Split(row[1], ", ")
		documented = append(documented, names...)
		if strings.HasPrefix(row[2], "0") {
			empty = append(empty, names...)
		}
	}
	for _, both := range []struct{ got, want []string }{{documented, RequestNames()}, {empty, withoutPayload()}} {
		slices.Sort(both.got)
		slices.Sort(both.want)
		if got := slices.Compact(both.got); !slices.Equal(got, both.want) {
			t.Errorf("documented are %v, and the requests are %v", got, both.want)
		}
	}
}

// The operation of every benchmark arrives on another machine as it was sent.
func TestOpsTravel(t *testing.T) {
	t.Parallel()
	for _, b := range Operations() {
		name, op := b.name, b.op
		fill(t, name, reflect.ValueOf(op).Elem())
		text, err := bench.EncodeOp(op)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := bench.DecodeOp(op, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := bench.EncodeOp(got)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %s became %s (%v)", name, text, again, err)
		}
		if strings.Contains(string(text), "null") {
			t.Errorf("%s: something was not filled: %s", name, text)
		}
	}
}

// fill sets every exported field to something that is not its zero value.
func fill(t *testing.T, where string, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[generator.Sizes]() {
		sizes, err := generator.ParseSizes("10MiB", true)
		check.OK(t, err)
		v.Set(reflect.ValueOf(sizes))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, where+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(3)
	case reflect.Uint, reflect.Uint64, reflect.Uint8:
		v.SetUint(4)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, where+"[]", v.Index(0))
		fill(t, where+"[]", v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, where, key)
		fill(t, where, value)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, where, v.Elem())
	default:
		t.Errorf("%s is a %s, which cannot travel to another machine", where, v.Type())
	}
}
