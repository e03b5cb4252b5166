package safety

import (
	"os"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/teststore"
)

func (b *bucket) versioning() string {
	b.t.Helper()
	v, err := b.core.GetBucketVersioning(b.t.Context(), b.name)
	b.must(err)
	return v.Status
}

func versionedStores() []string { return []string{teststore.MinIO, teststore.Versitygw} }

func TestVersioningOfAForeignBucketIsNotTouched(t *testing.T) {
	t.Parallel()
	for _, name := range realStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := made(t, stores.Shared(t, name), false)
			before := b.fill()
			p := b.warp(small("get", "--versions=2")...).want(1)
			if b.store.Can.Versioning {
				p.says("is not versioned, and warp did not make it", "--bucket")
				if v := b.versioning(); v != "" {
					t.Errorf("versioning is %q", v)
				}
			}
			b.same(before)
			if !b.store.Can.Versioning {
				return
			}
			b.must(b.core.EnableVersioning(t.Context(), b.name))
			b.warp(small("get", "--versions=2")...).want(0)
			if v := b.versioning(); v != "Enabled" {
				t.Errorf("its owner's versioning is %q", v)
			}
			b.must(b.core.SuspendVersioning(t.Context(), b.name))
			b.warp(small("get", "--versions=2")...).want(1)
			if v := b.versioning(); v != "Suspended" {
				t.Errorf("its owner's versioning is %q", v)
			}
			b.same(before)
		})
	}
}

func TestVersioningThatWarpTurnedOnIsSuspendedAtTheEnd(t *testing.T) {
	needSignals(t)
	t.Parallel()
	for _, name := range versionedStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores.Shared(t, name)
			b := unmade(t, s)
			b.versioned = true
			suspended := func(when string) {
				t.Helper()
				// A store without bucket tags cannot record that warp made the bucket.
				if v := b.versioning(); v != "Suspended" {
					t.Errorf("versioning is %q %s", v, when)
				}
				b.same(map[string]item{})
			}
			b.warp(small("get", "--versions=2")...).want(0)
			suspended("after a run")

			b.warp("get", "--versions=1", "--objects=5", "--obj.size=1KiB", "--duration=1s").want(0)
			suspended("after a run that did not want it")

			// The first of two runs ends while the second still needs versions.
			first := b.warp(small("get", "--versions=2", "--duration=30s")...)
			first.awaitOutput("Preparing: uploading: ")
			second := b.warp(small("stat", "--versions=2", "--duration=30s")...)
			second.awaitOutput("Preparing: uploading: ")
			first.signal(os.Interrupt)
			first.want(130)
			if v := b.versioning(); v != "Enabled" {
				t.Errorf("versioning is %q beside a run that needs it", v)
			}
			second.signal(os.Interrupt)
			second.want(130)
			suspended("after both of two runs")

			dead := b.warp(small("get", "--versions=2", "--duration=30s")...)
			dead.awaitOutput("Preparing: uploading: ")
			dead.kill()
			dead.wait()
			time.Sleep(expiry)
			b.warp(small("put")...).want(0)
			suspended("after a killed run and another")

			b.warp(small("get", "--versions=2", "--keep-data", "--prefix=kept")...).want(0)
			if v := b.versioning(); v != "Suspended" {
				t.Errorf("versioning is %q after --keep-data", v)
			}
			n := 0
			for o := range b.core.Client.ListObjectsIter(t.Context(), b.name, minio.ListObjectsOptions{Prefix: "kept/", Recursive: true, WithVersions: true}) {
				b.must(o.Err)
				n++
			}
			if n != 48 {
				t.Errorf("%d versions were kept instead of 48", n)
			}
			b.warp("get", "--list-existing", "--versions=2", "--objects=0", "--prefix=kept", "--duration=1s").want(0)
		})
	}
}
