package bench

import (
	"reflect"
	"strings"
	"testing"

	"warp/pkg/generator"
)

// Every operation that can travel arrives as it was sent.
func TestOpsTravel(t *testing.T) {
	t.Parallel()
	for name, make := range opTable() {
		op := make()
		fill(t, name, reflect.ValueOf(op).Elem())
		text, err := EncodeOp(name, op)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := DecodeOp(name, text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := EncodeOp(name, got)
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
		if err != nil {
			t.Fatal(err)
		}
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

func TestStrangeOpsDoNotTravel(t *testing.T) {
	t.Parallel()
	if _, err := EncodeOp("get", &Put{}); err == nil {
		t.Error("a put was sent as a get")
	}
	for _, text := range []string{`{"Objects":1,"Unknown":2}`, `{"Sizes":"big"}`, `[]`} {
		if _, err := DecodeOp("get", []byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if _, err := DecodeOp("rm -rf", []byte(`{}`)); err == nil {
		t.Error("a benchmark that does not exist was made")
	}
}

func TestSizesTravel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec   string
		random bool
	}{{"10MiB", false}, {"10MiB", true}, {"1KiB,1MiB", true}, {"4096:10,8192:1", false}} {
		sizes, err := generator.ParseSizes(test.spec, test.random)
		if err != nil {
			t.Fatal(err)
		}
		text, err := EncodeOp("put", &Put{Sizes: sizes})
		if err != nil {
			t.Fatal(err)
		}
		op, err := DecodeOp("put", text)
		if err != nil {
			t.Fatal(err)
		}
		a, b := generator.Rand(1, "x", 0), generator.Rand(1, "x", 0)
		for range 1000 {
			if x, y := sizes.Next(a), op.(*Put).Sizes.Next(b); x != y {
				t.Fatalf("%+v: %d became %d", test, x, y)
			}
		}
	}
}
