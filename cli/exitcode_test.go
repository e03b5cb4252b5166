package cli

import (
	"net/http"
	"sync/atomic"
	"testing"

	"warp/cli/exit"
)

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
		"errors<90%": exit.Requests, "GET.p99.9999<1m": exit.Requests, "errors<1%": exit.Assertion, "GET.p50<1ns": exit.Assertion,
	} {
		r := runWarp(t, nil, "get", "--host="+store, "--access-key=key", "--secret-key=secret-key", "--obj.size=1KiB", "--objects=5", "--concurrent=1", "--duration=1m", "--epochs=200",
			"--stress", "--assert="+assertion)
		if r.code != want {
			t.Errorf("%s: exit code %d, want %d: %s", assertion, r.code, want, r.err)
		}
	}
}
