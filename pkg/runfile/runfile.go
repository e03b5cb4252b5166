// Package runfile is the file of `warp run`: YAML with template variables in, benchmarks with their settings out. It
// knows how keys are grouped and renamed, and on which lines they are. Its callers check the values.
package runfile

import (
	"fmt"

	"warp/internal/human"
)

// A File is a file of warp run.
type File struct {
	Name       string // as errors call it
	Benchmarks []Benchmark
	Unused     []string // variables that were given and that the file does not have
}

// A Benchmark is one run.
type Benchmark struct {
	Name     string
	Line     int
	Settings []Setting // each flag once: the benchmark's own, and those for all benchmarks that it does not have itself
}

// A Setting is one key with its value.
type Setting struct {
	Flag   string // its name on the command line
	Path   string // its name in the file, such as warp.params.duration
	Key    string // the last part of the path
	Group  string // the group to look up Key in; "" of a plain one
	Line   int
	Values []string // as they are written; one, unless List
	List   bool
}

// Section returns the path without the key.
func (s *Setting) Section() string { return s.Path[:len(s.Path)-len(s.Key)-1] }

// An Error says what is wrong with a file, and where.
type Error struct {
	File string
	Line int // 0 if it is about no line
	Err  error
	Hint string
}

func (e *Error) Error() string {
	text := e.place() + ": " + e.Err.Error()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// place returns the file and the line.
func (e *Error) place() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

func fail(file string, line int, format string, args ...any) *Error {
	return &Error{File: file, Line: line, Err: fmt.Errorf(format, args...)}
}

func (e *Error) withHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Parse reads a file. vars are the values of its variables.
func Parse(name string, text []byte, vars map[string]string) (*File, error) {
	if len(text) > MaxBytes {
		return nil, fail(name, 0, "the file is larger than %s", human.Bytes(MaxBytes))
	}
	e, err := expand(name, text, vars)
	if err != nil {
		return nil, err
	}
	if len(e.text) > MaxBytes {
		return nil, fail(name, 0, "%w", errTooLong)
	}
	r := &reader{name: name, from: e}
	documents, err := r.documents()
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Unused: e.unused}
	for _, d := range documents {
		all, err := r.document(d)
		if err != nil {
			return nil, err
		}
		f.Benchmarks = append(f.Benchmarks, all...)
	}
	if len(f.Benchmarks) == 0 {
		return nil, fail(name, 0, "there is no benchmark in it").withHint("begin with warp: and below it api: v1 and benchmark: NAME")
	}
	return f, nil
}
