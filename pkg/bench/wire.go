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

// DecodeOp returns an operation of the same type as like, with the parameters that
// EncodeOp has written. Unknown parameters are an error.
func DecodeOp(like Op, text []byte) (Op, error) {
	op := reflect.New(reflect.TypeOf(like).Elem())
	prepareSizes(op.Elem())
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(op.Interface()); err != nil {
		return nil, err
	}
	return op.Interface().(Op), nil
}

// prepareSizes sets the fields for sizes to values that JSON can decode into.
func prepareSizes(v reflect.Value) {
	sizes := reflect.TypeFor[generator.Sizes]()
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case f.Type() == sizes:
			f.Set(reflect.ValueOf(&generator.SizesText{}))
		case f.Kind() == reflect.Struct:
			prepareSizes(f)
		}
	}
}
