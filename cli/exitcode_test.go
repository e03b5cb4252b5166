package cli

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
)

// Where there are several reasons for an exit code, 1, 2 and 130 win, then 4,
// 3 and 5, in whichever order they are found.
func TestExitCodeOfSeveralReasons(t *testing.T) {
	t.Parallel()
	of := func(code int) error {
		switch code {
		case exitOK:
			return nil
		case exitInterrupted:
			return ErrInterrupted
		}
		return &failure{code: code, err: errors.New("a reason")}
	}
	order := []int{exitOK, exitUndecided, exitRequests, exitAssertion} // from the weakest
	for i, weaker := range order {
		for _, stronger := range append(order[i+1:len(order):len(order)], exitFailed, exitUsage, exitInterrupted) {
			for _, err := range []error{both(of(weaker), of(stronger)), both(of(stronger), of(weaker))} {
				if got := exitCode(err); got != stronger {
					t.Errorf("%d and %d: exit code %d, want %d", weaker, stronger, got, stronger)
				}
			}
		}
	}
}

// Of a run in which requests fail, and of assertions about it.
func TestExitCodeOfFailedRequests(t *testing.T) {
	t.Parallel()
	var downloads atomic.Int64
	store := storeBehind(t, func(w http.ResponseWriter) bool {
		bad := downloads.Add(1)%5 == 0
		if bad {
			w.WriteHeader(http.StatusForbidden)
		}
		return !bad
	})
	for assertion, want := range map[string]int{
		"errors<90%": exitRequests, "GET.p99.9999<1m": exitRequests, "errors<1%": exitAssertion, "PUT.p50<1m": exitAssertion, // PUT only prepares
	} {
		r := runWarp(t, nil, "get", "--host="+store, "--access-key=key", "--secret-key=secret-key", "--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=500ms",
			"--stress", "--assert="+assertion)
		if r.code != want {
			t.Errorf("%s: exit code %d, want %d: %s", assertion, r.code, want, r.err)
		}
	}
}
