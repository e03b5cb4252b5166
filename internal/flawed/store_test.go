package flawed_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/flawed"
	"warp/pkg/store"
	"warp/pkg/store/engines"
)

const bucket = "enginetest"

// start starts a store with a bucket, and opens a client for each of its hosts.
func start(t *testing.T, f flawed.Flaw, hosts int, o store.Options) (*flawed.Store, []*store.Host) {
	t.Helper()
	s, err := flawed.Start(f, hosts)
	check.OK(t, err)
	t.Cleanup(s.Close)
	var all []*store.Host
	for i, addr := range s.Hosts {
		c, err := engines.New(store.Config{Hosts: []store.Address{{Name: addr}}, Region: "us-east-1", Concurrency: 1,
			Credentials: store.Keys{AccessKey: "key", SecretKey: "secretsecret"}, Options: o})
		check.OK(t, err)
		t.Cleanup(c.Close)
		if i == 0 {
			check.OK(t, c.MakeBucket(t.Context(), bucket, false))
		}
		all = append(all, c.Acquire())
	}
	return s, all
}

func TestCorrectStore(t *testing.T) {
	t.Parallel()
	_, hosts := start(t, "", 1, store.Options{})
	enginetest.Run(t, hosts[0])
}

func ref(key string) store.Ref { return store.Ref{Bucket: bucket, Key: key} }

func put(h *store.Host, key, text string, c store.Condition) error {
	_, err := h.Put(context.Background(), store.Put{Ref: ref(key), Body: bytes.NewReader([]byte(text)), Size: int64(len(text)), If: c}, store.NewTrace(time.Now()))
	return err
}

// get returns the content of an object, or the code of the error.
func get(h *store.Host, key string) string { return getRange(h, key, 0) }

// getRange returns so many bytes of the content of an object, or the code of the error. 0 bytes are all.
func getRange(h *store.Host, key string, length int64) string {
	var text bytes.Buffer
	if _, err := h.Get(context.Background(), store.Get{Ref: ref(key), Length: length, Into: &text}, store.NewTrace(time.Now())); err != nil {
		return store.CodeOf(err)
	}
	return text.String()
}

func keys(h *store.Host) (all []string) {
	_ = h.List(context.Background(), store.List{Bucket: bucket}, func(o store.Object) bool { all = append(all, o.Key); return true }, store.NewTrace(time.Now()))
	return all
}

// winners lets eight writers create an object at the same time.
func winners(h *store.Host, key string) int {
	var won atomic.Int32
	var racers sync.WaitGroup
	for i := range 8 {
		racers.Go(func() {
			if put(h, key, fmt.Sprint(i), store.Condition{Absent: true}) == nil {
				won.Add(1)
			}
		})
	}
	racers.Wait()
	return int(won.Load())
}

// uploaded uploads an object in parts and returns what is read then.
func uploaded(h *store.Host, bodies ...string) string {
	ctx, tr := context.Background(), store.NewTrace(time.Now())
	u, err := h.StartUpload(ctx, store.Put{Ref: ref("a")}, tr)
	var parts []store.Part
	for i, body := range bodies {
		var part store.Part
		if err == nil {
			part, err = h.PutPart(ctx, store.PutPart{Upload: u, Number: i + 1, Body: bytes.NewReader([]byte(body)), Size: int64(len(body))}, tr)
		}
		parts = append(parts, part)
	}
	if err == nil {
		_, err = h.CompleteUpload(ctx, u, parts, tr)
	}
	if err != nil {
		return err.Error()
	}
	return get(h, "a")
}

// Each flaw shows in the requests that it is about.
func TestFlaws(t *testing.T) {
	t.Parallel()
	always := store.Condition{}
	for f, shows := range map[flawed.Flaw]func(h []*store.Host) bool{
		flawed.IgnoredConditions: func(h []*store.Host) bool { return winners(h[0], "a") == 8 },
		flawed.LateWrites:        func(h []*store.Host) bool { return winners(h[0], "a") > 1 },
		flawed.LostWrites: func(h []*store.Host) bool {
			for i := range 50_000 {
				text := fmt.Sprint(i)
				if put(h[0], "a", text, always) == nil && get(h[0], "a") != text {
					return true
				}
			}
			return false
		},
		flawed.StaleHost: func(h []*store.Host) bool {
			_ = put(h[0], "a", "1", always)
			return get(h[1], "a") == "NoSuchKey" && get(h[0], "a") == "1" && waitFor(func() bool { return get(h[1], "a") == "1" })
		},
		flawed.StaleListings: func(h []*store.Host) bool {
			_ = put(h[0], "a", "1", always)
			return len(keys(h[0])) == 0 && waitFor(func() bool { return slices.Equal(keys(h[0]), []string{"a"}) })
		},
		flawed.MixedBodies: func(h []*store.Host) bool {
			_ = put(h[0], "a", "11", always)
			go put(h[0], "a", "22", always)
			return waitFor(func() bool { return get(h[0], "a") == "21" }) && waitFor(func() bool { return get(h[0], "a") == "22" })
		},
		flawed.MixedParts: func(h []*store.Host) bool {
			return uploaded(h[0], "1", "1") == "11" && uploaded(h[0], "2", "2") == "21"
		},
		flawed.EarlyParts: func(h []*store.Host) bool {
			tr := store.NewTrace(time.Now())
			u, err := h[0].StartUpload(context.Background(), store.Put{Ref: ref("a")}, tr)
			if err == nil {
				_, err = h[0].PutPart(context.Background(), store.PutPart{Upload: u, Number: 1, Body: bytes.NewReader([]byte("1")), Size: 1}, tr)
			}
			early := get(h[0], "a")
			_ = h[0].AbortUpload(context.Background(), u, tr)
			return err == nil && early == "1" && get(h[0], "a") == "NoSuchKey"
		},
		flawed.SkippedDeletions: func(h []*store.Host) bool {
			for range 2000 {
				_ = put(h[0], "a", "1", always)
				if h[0].Delete(context.Background(), []store.Ref{ref("a")}, store.NewTrace(time.Now())) == nil && get(h[0], "a") == "1" {
					return true
				}
			}
			return false
		},
		flawed.SimilarETags: func(h []*store.Host) bool {
			_ = put(h[0], "a", "1", always)
			o, err := h[0].Stat(context.Background(), ref("a"), store.NewTrace(time.Now()))
			return err == nil && put(h[0], "a", "2", store.Condition{Is: o.Token()[:8] + "?"}) == nil && get(h[0], "a") == "2" &&
				put(h[0], "a", "3", store.Condition{Is: "?"}) != nil
		},
		flawed.LostCompletions: func(h []*store.Host) bool {
			return uploaded(h[0], "1") == "1" && uploaded(h[0], "2") == "1"
		},
		flawed.StaleRanges: func(h []*store.Host) bool {
			_ = put(h[0], "a", "1", always)
			return getRange(h[0], "a", 1) == "NoSuchKey" && get(h[0], "a") == "1" && waitFor(func() bool { return getRange(h[0], "a", 1) == "1" })
		},
		flawed.Conflicts:       func(h []*store.Host) bool { return winners(h[0], "a") == 0 && len(keys(h[0])) == 0 },
		flawed.UnknownRequests: func(h []*store.Host) bool { return winners(h[0], "a") == 0 && len(keys(h[0])) == 0 },
		flawed.DroppedAnswers: func(h []*store.Host) bool {
			for i := range 500 {
				text := fmt.Sprint(i)
				if err := put(h[0], "a", text, always); store.CodeOf(err) == store.CodeClosed {
					return get(h[0], "a") == text
				}
			}
			return false
		},
		flawed.DelayedWrites: func(h []*store.Host) bool {
			for i := range 2000 {
				text := fmt.Sprint(i)
				if err := put(h[0], "a", text, always); store.IsTimeout(err) {
					return get(h[0], "a") != text && waitFor(func() bool { return get(h[0], "a") == text })
				}
			}
			return false
		},
		flawed.Busy: func(h []*store.Host) bool {
			return waitFor(func() bool { return store.CodeOf(put(h[0], "a", "1", always)) == "SlowDown" })
		},
		flawed.Resets: func(h []*store.Host) bool {
			done, not := false, false
			for i := 0; i < 2000 && !(done && not); i++ {
				text := fmt.Sprint(i)
				if err := put(h[0], "a", text, always); store.CodeOf(err) == store.CodeReset {
					now := get(h[0], "a")
					if now == store.CodeReset {
						continue
					}
					done, not = done || now == text, not || now != text
				}
			}
			return done && not
		},
		flawed.Pauses: func(h []*store.Host) bool {
			return waitFor(func() bool {
				began := time.Now()
				return put(h[0], "a", "1", always) == nil && time.Since(began) > 500*time.Millisecond
			})
		},
		flawed.RepeatedWrites: func(h []*store.Host) bool {
			for i := range 500 {
				key := fmt.Sprint(i)
				if err := put(h[0], key, "1", store.Condition{Absent: true}); store.CodeOf(err) == "PreconditionFailed" {
					return get(h[0], key) == "1"
				}
			}
			return false
		},
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s, hosts := start(t, f, 2, store.Options{NoRepeat: true, Timeout: 2 * time.Second})
			if !shows(hosts) || s.Shown() == 0 {
				t.Errorf("the flaw does not show, but %d times in the store", s.Shown())
			}
		})
	}
}

// waitFor reports whether a condition becomes true.
func waitFor(is func() bool) bool {
	for deadline := time.Now().Add(check.Limit); time.Now().Before(deadline); time.Sleep(100 * time.Microsecond) {
		if is() {
			return true
		}
	}
	return false
}
