package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"warp/pkg/generator"
)

// opTable says what type of operation a benchmark's name stands for, so that
// one can be described on one machine and run on another.
func opTable() map[string]func() Op {
	return map[string]func() Op{
		"append":        func() Op { return &Append{} },
		"copy":          func() Op { return &Copy{} },
		"delete":        func() Op { return &Delete{} },
		"fanout":        func() Op { return &FanOut{} },
		"get":           func() Op { return &Get{} },
		"list":          func() Op { return &List{} },
		"mixed":         func() Op { return &Mixed{} },
		"multipart":     func() Op { return &Multipart{} },
		"multipart-put": func() Op { return &MultipartPut{} },
		"put":           func() Op { return &Put{} },
		"retention":     func() Op { return &Retention{} },
		"snowball":      func() Op { return &Snowball{} },
		"zip":           func() Op { return &Zip{} },
		"stat":          func() Op { return &Stat{} },
		"tagging":       func() Op { return &Tagging{} },
		"versioned":     func() Op { return &Versioned{} },
	}
}

// ErrNotPortable says that an operation runs on the machine where it is made.
var ErrNotPortable = errors.New("this benchmark runs on one machine only")

// EncodeOp writes what an operation is told before it runs.
func EncodeOp(benchmark string, op Op) ([]byte, error) {
	make, ok := opTable()[benchmark]
	if !ok || reflect.TypeOf(make()) != reflect.TypeOf(op) {
		return nil, fmt.Errorf("%s: %w", benchmark, ErrNotPortable)
	}
	return json.Marshal(op)
}

// DecodeOp reads it. What this build does not know is an error.
func DecodeOp(benchmark string, text []byte) (Op, error) {
	make, ok := opTable()[benchmark]
	if !ok {
		return nil, fmt.Errorf("there is no benchmark %q in this build", benchmark)
	}
	op := make()
	giveSizes(reflect.ValueOf(op).Elem())
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(op); err != nil {
		return nil, fmt.Errorf("the parameters of %s: %w", benchmark, err)
	}
	return op, nil
}

// giveSizes puts something into the fields for sizes that JSON can read into.
func giveSizes(v reflect.Value) {
	sizes := reflect.TypeFor[generator.Sizes]()
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case f.Type() == sizes:
			f.Set(reflect.ValueOf(&generator.SizesText{}))
		case f.Kind() == reflect.Struct:
			giveSizes(f)
		}
	}
}
