package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"warp/cli/redact"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/store"
)

// Exit codes, as documented for scripts.
const (
	exitOK          = 0
	exitFailed      = 1   // the command could not do what it was asked to do
	exitUsage       = 2   // the command line is wrong; nothing was done
	exitRequests    = 3   // the run finished, but requests failed
	exitAssertion   = 4   // an assertion about the run failed, or the runs are worse than their baseline
	exitUndecided   = 5   // an assertion is inconclusive and none failed, or it cannot be said whether runs are worse
	exitInterrupted = 130 // a signal ended the run, and what it had was saved
)

// ErrInterrupted is the cause of a context that a signal has cancelled.
var ErrInterrupted = bench.ErrInterrupted

// errSilent ends a command with an exit code and without a message, because
// everything was said already.
var errSilent = errors.New("")

// silently returns an error that only carries the exit code.
func silently(code int) error { return &failure{code: code, err: errSilent} }

// A failure is an error that knows its exit code and what to do about it. An
// error of any other type ends warp with exitFailed.
type failure struct {
	code int
	err  error
	hint string // what to do next; may be empty
}

func (f *failure) Error() string {
	if f.hint == "" {
		return f.err.Error()
	}
	return strings.TrimSuffix(f.err.Error(), ".") + "; " + f.hint
}

func (f *failure) Unwrap() error { return f.err }

// withHint adds what to do about the failure.
func (f *failure) withHint(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// usageError says that the command line is wrong.
func usageError(format string, args ...any) *failure {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// runError says that the command failed; like fmt.Errorf it wraps with %w.
func runError(format string, args ...any) *failure {
	return &failure{code: exitFailed, err: fmt.Errorf(format, args...)}
}

// requestsFailed says that a run finished although requests failed.
func requestsFailed(format string, args ...any) *failure {
	return &failure{code: exitRequests, err: fmt.Errorf(format, args...)}
}

// exitCode is the process's answer to err.
func exitCode(err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	case errors.Is(err, ErrInterrupted):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// weight orders exit codes where there is more than one reason for one.
func weight(code int) int {
	switch code {
	case exitOK:
		return 0
	case exitUndecided:
		return 1
	case exitRequests:
		return 2
	case exitAssertion:
		return 3
	}
	return 4
}

// both joins two errors. The exit code is the weightier one, or the first.
func both(first, second error) error {
	switch {
	case second == nil:
		return first
	case first == nil:
		return second
	}
	code := exitCode(first)
	if other := exitCode(second); weight(other) > weight(code) {
		code = other
	}
	if first == ErrInterrupted { // whoever has pressed Ctrl-C knows
		return &failure{code: code, err: second}
	}
	return &failure{code: code, err: fmt.Errorf("%w; and %w", first, second)}
}

// printError is the only place that tells the user about an error. The message
// is one line whatever the error contains, because scripts and logs cut at line
// ends.
func printError(w io.Writer, hide *redact.Redactor, err error) {
	fmt.Fprintln(w, "warp: error: "+hide.Text(oneLine(err.Error())))
}

// oneLine joins the lines of s, and takes out what could steer a terminal:
// parts of a message may come from a server or from a file.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	// What a store says ends in a full stop, and goes on here.
	return strings.NewReplacer(".;", ";", ".)", ")").Replace(human.OneLine(strings.Join(words, " ")))
}

// interrupted replaces the plain "context canceled" by the reason for it, so
// that the exit code tells an interruption from a failure.
func interrupted(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrInterrupted) && (errors.Is(err, context.Canceled) || store.CodeOf(err) == store.CodeCanceled) {
		return ErrInterrupted
	}
	return err
}
