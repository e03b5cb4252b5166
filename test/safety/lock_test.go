package safety

import (
	"os"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// Foreign locked objects stay, and warp's own are removed, if necessary by a later run.
func TestRetentionUnlocksWhatItLockedAndNothingElse(t *testing.T) {
	needSignals(t)
	t.Parallel()
	for _, name := range versionedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, name)
			b := unmade(t, s)
			b.versioned = true
			b.must(b.core.MakeBucket(t.Context(), b.name, minio.MakeBucketOptions{Region: s.Region, ObjectLocking: true}))
			b.put("contract", "signed")
			mode, until := minio.Governance, time.Now().Add(time.Hour)
			b.must(b.core.PutObjectRetention(t.Context(), b.name, "contract", minio.PutObjectRetentionOptions{Mode: &mode, RetainUntilDate: &until}))
			before := b.snapshot()

			run := func(more ...string) *process { return b.warp(small("retention", append(more, "--versions=2")...)...) }
			run().want(0)
			b.same(before)

			// Two runs at once, one of which is interrupted.
			first, second := run("--duration=30s"), run()
			first.awaitOutput("Preparing: uploading: ")
			first.signal(os.Interrupt)
			first.want(130)
			second.want(0)
			b.same(before)

			dead := run("--duration=30s")
			dead.awaitOutput("Preparing: uploading: ")
			time.Sleep(300 * time.Millisecond) // until some are locked
			dead.kill()
			dead.wait()
			if locked := len(b.snapshot()); locked < len(before)+48 {
				t.Errorf("the killed run left %d versions", locked)
			}
			time.Sleep(expiry)
			b.warp(small("put")...).want(0)
			b.same(before)
		})
	}
}

// An existing bucket cannot get object lock, and is not replaced by one that has it.
func TestRetentionLeavesABucketWithoutLockAlone(t *testing.T) {
	t.Parallel()
	for _, name := range versionedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := made(t, stores.Shared(t, name), true)
			before := b.fill()
			b.warp(small("retention")...).want(1).says("has no object lock", "--bucket")
			b.same(before)
		})
	}
}

// In a bucket with default retention, warp could not remove what it writes.
func TestRetentionRefusesABucketThatLocksByItself(t *testing.T) {
	t.Parallel()
	for _, name := range versionedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, name)
			b := unmade(t, s)
			b.versioned = true
			b.must(b.core.MakeBucket(t.Context(), b.name, minio.MakeBucketOptions{Region: s.Region, ObjectLocking: true}))
			mode, days, unit := minio.Compliance, uint(1), minio.Days
			b.must(b.core.SetObjectLockConfig(t.Context(), b.name, &mode, &days, &unit))
			b.warp(small("retention")...).want(1).says("locks every new object by default", "--bucket")
			b.same(map[string]item{})
		})
	}
}
