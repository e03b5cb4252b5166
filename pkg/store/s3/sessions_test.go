package s3

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"warp/pkg/store"
)

// A session is renewed before it expires, and no request waits for that, however long it takes.
func TestSessionsAreRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions()
		var created atomic.Int64
		s.Ask(func(_ context.Context, bucket string) (Session, error) {
			n := created.Add(1)
			time.Sleep(20 * time.Second) // the store is slow
			if n%3 == 0 {
				return Session{}, store.Errorf("SlowDown", 503, "not now")
			}
			return Session{Keys: store.Keys{AccessKey: fmt.Sprint(bucket, n), SecretKey: "s"}, Lasts: 5 * time.Minute}, nil
		})
		began := time.Now()
		if _, err := s.Keys(t.Context(), "b"); err != nil || time.Since(began) != 20*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		for range 3600 {
			asked := time.Now()
			if keys, err := s.Keys(t.Context(), "b"); err != nil || keys.AccessKey == "" {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			if waited := time.Since(asked); waited != 0 {
				t.Fatalf("a request waited for %v", waited)
			}
			time.Sleep(time.Second)
		}
		// An hour has room for 21 times half a session plus the store's delay. Every third attempt
		// fails and is repeated.
		if n := created.Load(); n < 20 || n > 40 {
			t.Errorf("%d sessions in an hour", n)
		}
		s.Close()
		time.Sleep(time.Minute) // for the renewal in progress
	})
}

// If a session cannot be renewed, requests fail with the store's error once it has expired, until
// it can be.
func TestSessionsThatEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSessions()
		var refuse atomic.Bool
		s.Ask(func(context.Context, string) (Session, error) {
			if refuse.Load() {
				return Session{}, store.Errorf("AccessDenied", 403, "no more")
			}
			return Session{Keys: store.Keys{AccessKey: "a", SecretKey: "s"}, Lasts: time.Minute}, nil
		})
		keys := func() string {
			_, err := s.Keys(t.Context(), "b")
			return store.CodeOf(err)
		}
		if code := keys(); code != "" {
			t.Fatal(code)
		}
		refuse.Store(true)
		time.Sleep(50 * time.Second)
		if code := keys(); code != "" {
			t.Errorf("before its end: %s", code)
		}
		time.Sleep(20 * time.Second)
		if code := keys(); code != "AccessDenied" {
			t.Errorf("after its end: %s", code)
		}
		refuse.Store(false)
		time.Sleep(5 * time.Second)
		if code := keys(); code != "" {
			t.Errorf("with another one: %s", code)
		}
		s.Doubt("b")
		s.Doubt("b")
		s.Close()
		time.Sleep(time.Minute) // for the renewal in progress
	})
}
