package teststore

import (
	"errors"
	"os"
	"sync"
	"testing"
)

var stores Pool

func TestMain(m *testing.M) { os.Exit(stores.Run(m)) }

// Concurrent calls for the same name return the same store.
func TestPoolShares(t *testing.T) {
	var wg sync.WaitGroup
	got := make([]*Store, 8)
	for i := range got {
		wg.Go(func() { got[i] = stores.Shared(t, Embedded) })
	}
	wg.Wait()
	for _, s := range got {
		if s != got[0] {
			t.Errorf("one is given %s, another %s", s.Endpoint, got[0].Endpoint)
		}
	}
	roundTrip(t, client(t, got[0], got[0].Endpoint), "us-east-1", "warp-test")
}

func TestPoolEach(t *testing.T) {
	seen := map[string]bool{}
	stores.Each(t, func(t *testing.T, s *Store) {
		seen[s.Name] = true
		if _, err := client(t, s, s.Endpoint).ListBuckets(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if !InCI() || !Requested() {
		return
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("%s was left out", name)
		}
	}
}

// If the builder is missing, the error allows a skip.
func TestUnavailable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.Context(), Garage); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Build: %v", err)
	}
	if _, err := Build(t.Context(), "none"); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("Build of no store: %v", err)
	}
}
