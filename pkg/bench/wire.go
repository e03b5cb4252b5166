package bench

import (
	"bytes"
	"encoding/json"
	"reflect"

	"warp/pkg/generator"
)

// EncodeOp writes the parameters of an operation, so that it can be described
// on one machine and run on another.
func EncodeOp(op Op) ([]byte, error) { return json.Marshal(op) }

// DecodeOp returns an operation of the same type as the given one, with the
// parameters that EncodeOp has written. Parameters that this build does not
// know are an error.
func DecodeOp(like Op, text []byte) (Op, error) {
	op := reflect.New(reflect.TypeOf(like).Elem())
	giveSizes(op.Elem())
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(op.Interface()); err != nil {
		return nil, err
	}
	return op.Interface().(Op), nil
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
