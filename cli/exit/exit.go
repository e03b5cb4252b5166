// Package exit gives errors their exit codes, and hints what to do about them.
package exit

import (
	"errors"
	"fmt"
	"strings"

	"warp/pkg/bench"
)

// Exit codes, as documented for scripts.
const (
	OK          = 0
	Failed      = 1   // the command could not do its work
	Usage       = 2   // the command line is wrong; nothing was done
	Requests    = 3   // the run finished, but requests failed
	Assertion   = 4   // an assertion about the run failed, or the runs are worse than their baseline
	Undecided   = 5   // an assertion is inconclusive and none failed, or it cannot be said whether runs are worse
	Interrupted = 130 // a signal ended the run, and what it had was saved
)

// An Error has an exit code and a hint. Errors of other types end warp with the
// code [Failed].
type Error struct {
	Code int
	Hint string // what to do next; may be empty
	err  error
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.err.Error()
	}
	return strings.TrimSuffix(e.err.Error(), ".") + "; " + e.Hint
}

func (e *Error) Unwrap() error { return e.err }

// WithHint says what to do about the error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Withf is like fmt.Errorf, with an exit code.
func Withf(code int, format string, args ...any) *Error {
	return &Error{Code: code, err: fmt.Errorf(format, args...)}
}

// Usagef says that the command line is wrong.
func Usagef(format string, args ...any) *Error { return Withf(Usage, format, args...) }

// Errorf says that the command failed; like fmt.Errorf it wraps with %w.
func Errorf(format string, args ...any) *Error { return Withf(Failed, format, args...) }

// Requestsf says that a run finished although requests failed.
func Requestsf(format string, args ...any) *Error { return Withf(Requests, format, args...) }

// Reword returns err with words applied to its message, for commands with flags of other names.
func Reword(err error, words func(string) string) error {
	if err == nil {
		return nil
	}
	text := words(err.Error())
	if text == err.Error() {
		return err
	}
	return &reworded{err, text}
}

type reworded struct {
	error
	text string
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.error }

// Code returns the exit code for err.
func Code(err error) int {
	var coded *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, bench.ErrInterrupted):
		return Interrupted
	default:
		return Failed
	}
}

// weight orders exit codes, for failures with several reasons.
func weight(code int) int {
	switch code {
	case OK:
		return 0
	case Undecided:
		return 1
	case Requests:
		return 2
	case Assertion:
		return 3
	}
	return 4
}

// First calls functions in order and returns the first error.
func First(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Join joins two errors. The exit code is the weightier one, or the first.
func Join(first, second error) error {
	switch {
	case second == nil:
		return first
	case first == nil:
		return second
	}
	code := Code(first)
	if other := Code(second); weight(other) > weight(code) {
		code = other
	}
	if first == bench.ErrInterrupted { // the user knows
		return &Error{Code: code, err: second}
	}
	return Withf(code, "%w; and %w", first, second)
}
