// Package bench holds the [Runner] that drives a benchmark. The operations are in
// package ops.
//
// A run has an [Op], which prepares objects and then performs one step after the
// other on each [Worker]. [Worker.Measure] times every request. Its records go
// through a queue of the worker to the collector, which hands them to the sinks
// and decides on the measured window.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"warp/pkg/generator"
)

// An Op is one kind of benchmark.
type Op interface {
	// Prepare prepares the measured run: it uploads objects, for example.
	Prepare(ctx context.Context, e *Env) error
	// Do performs one step on one worker; it may Measure any number of requests.
	Do(ctx context.Context, w *Worker) error
}

// A PartUploader is an Op that uploads in parts, whatever the size.
type PartUploader interface{ UploadsInParts() }

// A Multiplexer is an Op with several requests of one worker at a time.
type Multiplexer interface {
	// RequestsAtOnce returns the maximum number of these.
	RequestsAtOnce() int
}

// ErrDone is returned by Do when nothing is left to do. The run then ends
// successfully.
var ErrDone = errors.New("nothing left to do")

// A Done is ErrDone with a reason, which the report repeats.
type Done string

func (d Done) Error() string { return string(d) }

func (d Done) Is(target error) bool { return target == ErrDone }

// Progress receives the progress of the phases before and after the measured run.
type Progress interface {
	Begin(title string, total int64) // total 0 = not known
	Add(n int64)
	Moved(bytes int64) // payload that was uploaded
	End()
	Warn(text string)
	// Measuring is called when the measured run starts. The runner calls stop
	// when it ends.
	Measuring() (stop func())
}

// noProgress is a Progress that shows nothing.
type noProgress struct{}

func (noProgress) Begin(string, int64) {}
func (noProgress) Add(int64)           {}
func (noProgress) Moved(int64)         {}
func (noProgress) End()                {}
func (noProgress) Warn(string)         {}
func (noProgress) Measuring() func()   { return func() {} }

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
