package safety

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"warp/internal/teststore"
)

// An ownAPI is a store without S3, and functions to inspect it directly.
type ownAPI struct {
	store      string                              // its name in teststore
	open       func(t *testing.T) *teststore.Store // starts a store for one test; nil = tests share the store of that name
	makeBucket func(b *bucket) error
	put        func(b *bucket, key, content string) error
	look       func(b *bucket) map[string]item // returns everything in the bucket
	lacks      func(args []string) bool        // reports whether warp rejects a benchmark there
	foreign    map[string]string               // objects that look like those that warp keeps there
	parts      []string                        // benchmarks that upload in parts; nil = none
	unfinished func(key string, i item) bool   // reports whether the item belongs to an incomplete upload
}

// partSize is the size of the parts in these tests.
const partSize = 5 << 20

// isPart reports whether a request uploads a part. Before the first part, an upload with a chosen
// name may not be marked as warp's yet, and stays.
func isPart(r *http.Request) bool { return r.ContentLength >= partSize }

// ownAPIs lists the stores without S3. They get the same tests.
func ownAPIs() []*ownAPI { return []*ownAPI{gcs(), azurite(), aistore()} }

// onOwnAPIs runs a test in a foreign bucket of each of them.
func onOwnAPIs(t *testing.T, test func(t *testing.T, b *bucket)) {
	t.Parallel()
	for _, own := range ownAPIs() {
		t.Run(own.store, func(t *testing.T) {
			t.Parallel()
			b := &bucket{t: t, name: fmt.Sprintf("safety-%d", buckets.Add(1)), own: own}
			if own.open != nil {
				b.store = own.open(t)
			} else {
				b.store = stores.Shared(t, own.store)
			}
			b.must(own.makeBucket(b))
			test(t, b)
		})
	}
}

// Foreign objects are as safe as in S3, whatever warp does.
func TestOwnAPIForeignObjects(t *testing.T) {
	onOwnAPIs(t, func(t *testing.T, b *bucket) {
		b.fill()
		for key, content := range b.own.foreign {
			b.put(key, content)
		}
		before := b.snapshot()
		for _, args := range slices.DeleteFunc(everyOperation(b.store, false), b.own.lacks) {
			p := b.warp(args...).want(0)
			if strings.Contains(p.stderr(), "without cleaning up") {
				t.Errorf("%s", p)
			}
		}
		b.same(before)
		for _, args := range [][]string{{"put"}, {"mixed", "--noprefix"}, {"delete"}, {"put", "--prefix=photos"}, {"put", "--keep-data"}} {
			b.warp(append(small(args[0], args[1:]...), fmt.Sprintf("--seed=%d", takenSeed))...).want(1).says("exists in bucket")
		}
		if slices.Contains(b.own.parts, "multipart") {
			b.warp("multipart", "--parts=2", "--part.size=5MiB", "--concurrent=1", "--duration=1s", "--obj.name=photo.jpg").want(1).says("photo.jpg exists")
		}
		b.same(before)
	})
}

// Whenever warp is killed, the next run removes what is warp's and nothing else, and so does warp
// clean.
func TestOwnAPIKilled(t *testing.T) {
	onOwnAPIs(t, func(t *testing.T, b *bucket) {
		r := killSeed(t)
		before := b.fill()
		taken := fmt.Sprintf("--seed=%d", takenSeed)
		for n := 1; n <= 12; n++ {
			b.killedAt(n, small("put")...)
			b.killedAt(n, small("mixed", taken, "--keep-data", "--prefix=photos")...)
		}
		operations := slices.DeleteFunc(everyOperation(b.store, false), b.own.lacks)
		for range 8 {
			b.killedAt(12+r.IntN(250), operations[r.IntN(len(operations))]...)
		}
		unfinished := false
		for range 6 {
			for _, command := range b.own.parts {
				b.killedOn(isPart, 1+r.IntN(4), command, "--parts=3", fmt.Sprintf("--part.size=%d", partSize), "--concurrent=2", "--duration=30s", "--lease=10s")
				for key, i := range b.snapshot() {
					_, foreign := before[key]
					unfinished = unfinished || !foreign && b.own.unfinished(key, i)
				}
			}
		}
		if b.own.parts != nil && !unfinished {
			t.Error("no run that was killed has left an upload that is not complete")
		}
		if left := b.snapshot(); len(left) == len(before) {
			t.Error("runs that were killed have left nothing, so this test shows nothing")
		}
		b.laterRunsCleanUp(before)
		b.killedAt(30, small("put", "--seed=77")...)
		if left := b.snapshot(); len(left) == len(before) {
			t.Error("a run that was killed has left nothing, so warp clean shows nothing")
		}
		time.Sleep(expiry)
		b.warp("clean", "--seed=77").want(0)
		b.same(before)
	})
}
