package safety

import (
	"os"
	"strings"
	"testing"
	"time"

	"warp/internal/teststore"
	"warp/pkg/generator"
)

// With several buckets, each is as safe as a single one: two concurrent runs, one killed and one
// interrupted, do not change foreign objects and leave nothing behind.
func TestSeveralBuckets(t *testing.T) {
	needSignals(t)
	onEach(t, func(t *testing.T, s *teststore.Store) {
		b, other := made(t, s, false), made(t, s, false)
		before, beforeOther := b.fill(), other.fill()
		both := "--bucket=" + b.name + "," + other.name
		warp := func(args ...string) *process {
			at := in(s, s.Endpoint, "")
			return start(t, append(append(args, at[:len(at)-1]...), both)...)
		}
		same := func() {
			t.Helper()
			b.same(before)
			other.same(beforeOther)
		}
		warp(small("put", "--clear-bucket", "--destroy="+b.name)...).want(2)
		warp(small("delete", "--list-existing", "--destroy="+other.name)...).want(2)
		warp(small("stat", "--list-existing", "--objects=0")...).want(0)
		same()
		one, two := warp(small("mixed", "--noprefix")...), warp(small("get", "--prefix=photos", "--unique", "--epochs=2")...)
		one.want(0)
		two.want(0)
		same()
		warp(small("put", "--seed=4711")...).want(1).says("belongs to no run of warp")
		same()

		interrupted := warp(small("put", "--duration=60s", "--seed=96")...)
		of := func(seed uint64, b *bucket) int {
			return len(b.keys(func(k string) bool { return strings.HasPrefix(k, generator.RunPrefix(seed)) }))
		}
		await(t, 20*time.Second, func() bool { return of(96, b) > 0 && of(96, other) > 0 }, "objects in both buckets")
		warp(small("put", "--seed=96")...).want(1).says("is using the same names")
		interrupted.signal(os.Interrupt)
		interrupted.wait()
		same()

		for _, by := range [][]string{{"clean"}, small("put", "--max-objects=5", "--duration=0")} {
			killed := warp(small("put", "--duration=60s", "--seed=97")...)
			await(t, 20*time.Second, func() bool { return of(97, b) > 0 && of(97, other) > 0 }, "objects in both buckets")
			killed.kill()
			killed.wait()
			time.Sleep(expiry)
			warp(by...).want(0)
			same()
		}
		warp(small("put", "--seed=98", "--keep-data")...).want(0)
		if of(98, b) == 0 || of(98, other) == 0 {
			t.Errorf("%d and %d objects were kept", of(98, b), of(98, other))
		}
		warp("clean", "--seed=98").want(0)
		same()
	})
}
