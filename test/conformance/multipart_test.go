package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/check"
	"warp/internal/teststore"
)

const fixedName = "warp-multipart.bin"

func (b *bed) theirs(t *testing.T, key string) {
	t.Helper()
	if exists, _ := b.client.BucketExists(t.Context(), b.bucket); !exists {
		check.OK(t, b.client.MakeBucket(t.Context(), b.bucket, minio.MakeBucketOptions{Region: b.store.Region}))
	}
	if _, err := b.client.PutObject(t.Context(), b.bucket, key, strings.NewReader("theirs"), 6, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
}

// stillTheirs checks that the object is as theirs has made it.
func (b *bed) stillTheirs(t *testing.T, key string) {
	t.Helper()
	o, err := b.client.StatObject(t.Context(), b.bucket, key, minio.StatObjectOptions{})
	if err != nil || o.Size != 6 {
		t.Errorf("%s has %d bytes, %v", key, o.Size, err)
	}
}

// TestFixedNameIsTaken checks that an existing object stays, even if a delete marker hides it.
func TestFixedNameIsTaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw, teststore.Garage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, name))
			b.theirs(t, fixedName)
			b.theirs(t, "mine.bin.and.more") // a longer name is a different one
			o, _ := b.run("multipart", "--parts=2", "--duration=1s")
			o.want(t, 1).says(t, fixedName, "--obj.name")
			o, _ = b.run("multipart", "--parts=2", "--obj.name=mine.bin", "--duration=1s")
			o.want(t, 0)
			b.stillTheirs(t, fixedName)
			b.left(t, map[string]bool{fixedName: true, "mine.bin.and.more": true})
		})
	}
}

func TestFixedNameIsHidden(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.MinIO))
	b.theirs(t, "unrelated")
	check.OK(t, b.client.EnableVersioning(t.Context(), b.bucket))
	b.theirs(t, fixedName)
	check.OK(t, b.client.RemoveObject(t.Context(), b.bucket, fixedName, minio.RemoveObjectOptions{}))
	o, _ := b.run("multipart", "--parts=2", "--duration=1s")
	o.want(t, 1).says(t, fixedName)
	o, _ = b.run("multipart", "--parts=2", "--obj.name=mine.bin", "--duration=1s")
	o.want(t, 0)
	b.left(t, map[string]bool{fixedName: true, "unrelated": true})
}

// TestFixedNameIsTakenMeanwhile checks that an object that appears during the upload is not
// overwritten.
func TestFixedNameIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, name), &teststore.Fault{Match: anyPart, Delay: 300 * time.Millisecond})
			line, _ := b.line("multipart", "--parts=6", "--concurrent=1", "--duration=5m")
			c := startWarp(t, line...)
			check.Eventually(t, "the upload to be under way", func() bool {
				return len(b.proxy.Requests(func(s *teststore.Seen) bool {
					return isPart(s) && strings.Contains(s.Path, fixedName)
				})) > 1
			})
			b.theirs(t, fixedName)
			o, _ := c.ends(t)
			o.want(t, 1).says(t, fixedName, "--obj.name")
			b.stillTheirs(t, fixedName)
			b.left(t, map[string]bool{fixedName: true})
		})
	}
}

// TestTwoFixedNames runs two runs at once: a default name changes if it is taken, and a name set by
// the user is rejected.
func TestTwoFixedNames(t *testing.T) {
	t.Parallel()
	b := newBed(t, stores.Shared(t, teststore.MinIO))
	line, _ := b.line("multipart", "--parts=2", "--concurrent=1", "--duration=5m")
	c := startWarp(t, line...)
	check.Eventually(t, "the run to be under way", func() bool { return b.sent("GET") > 5 })
	o, log := b.run("multipart", "--parts=2", "--concurrent=1", "--duration=300ms")
	o.want(t, 0)
	if h := readLog(t, log); !strings.HasPrefix(h.of("GET")[0].Key, fixedName+".") {
		t.Errorf("the second object is %s", h.of("GET")[0].Key)
	}
	o, _ = b.run("multipart", "--parts=2", "--obj.name="+fixedName, "--duration=300ms")
	o.want(t, 1).says(t, fixedName, "is using")
	c.interrupt(t)
	o, _ = c.ends(t)
	o.want(t, 130)
	b.clean(t)
}

// TestKillMultipart checks that the next run removes what a killed run has uploaded, or was
// uploading, but not what another program has since put under the name.
func TestKillMultipart(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while it uploads", "while it downloads", "and the name is theirs now"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			slow := &teststore.Fault{Match: anyPart, Delay: 20 * time.Millisecond}
			b := newBed(t, stores.Shared(t, teststore.MinIO), slow)
			parts := "--parts=2"
			if when == "while it uploads" {
				parts = "--parts=1000"
			}
			line, _ := b.line("multipart", parts, "--concurrent=1", "--duration=5m", "--lease=10s")
			c := startWarp(t, line...)
			check.Eventually(t, "the run to be under way", func() bool {
				return b.sent("GET") > 3 || parts == "--parts=1000" && len(b.proxy.Requests(isPart)) > 6
			})
			check.OK(t, c.cmd.Process.Kill())
			<-c.done
			left := map[string]bool{}
			if when == "and the name is theirs now" {
				b.theirs(t, fixedName)
				left[fixedName] = true
			}
			time.Sleep(11500 * time.Millisecond) // the lease, by the store's clock in whole seconds
			o, _ := b.run("put", "--obj.size=1KiB", "--concurrent=1", "--duration=200ms")
			o.want(t, 0)
			b.left(t, left)
			if len(left) > 0 {
				b.stillTheirs(t, fixedName)
			}
		})
	}
}

// TestInterruptMultipart checks that Ctrl-C during the upload leaves neither object nor parts.
func TestInterruptMultipart(t *testing.T) {
	t.Parallel()
	for _, name := range []string{teststore.MinIO, teststore.Versitygw, teststore.Garage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, stores.Shared(t, name), &teststore.Fault{Match: anyPart, Delay: 20 * time.Millisecond})
			line, _ := b.line("multipart", "--parts=1000", "--concurrent=2", "--duration=5m")
			c := startWarp(t, line...)
			check.Eventually(t, "parts to be under way", func() bool { return len(b.proxy.Requests(isPart)) > 6 })
			c.interrupt(t)
			o, _ := c.ends(t)
			o.want(t, 130)
			b.clean(t)
		})
	}
}
