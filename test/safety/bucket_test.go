package safety

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"warp/internal/check"
	"warp/internal/teststore"
	"warp/pkg/generator"
)

// A bucket is inspected with a separate client.
type bucket struct {
	t         *testing.T
	name      string
	store     *teststore.Store
	core      *minio.Core
	own       *ownAPI // for a store without S3, instead of core
	versioned bool
	runs      []*process // in their order
}

var buckets atomic.Int64

// unmade returns the name of a bucket that does not exist yet.
func unmade(t *testing.T, s *teststore.Store) *bucket {
	t.Helper()
	core, err := minio.NewCore(s.Endpoint, &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: s.Region})
	check.OK(t, err)
	return &bucket{t: t, name: fmt.Sprintf("safety-%d", buckets.Add(1)), store: s, core: core}
}

// made creates a bucket, as another program would.
func made(t *testing.T, s *teststore.Store, versioned bool) *bucket {
	t.Helper()
	b := unmade(t, s)
	b.must(b.core.MakeBucket(t.Context(), b.name, minio.MakeBucketOptions{Region: s.Region}))
	if versioned {
		b.must(b.core.EnableVersioning(t.Context(), b.name))
		b.versioned = true
	}
	return b
}

func (b *bucket) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// args returns the flags for the bucket, directly at the store.
func (b *bucket) args() []string { return in(b.store, b.store.Endpoint, b.name) }

// warp starts a run in the bucket.
func (b *bucket) warp(args ...string) *process {
	b.t.Helper()
	return b.start(slices.Concat(args, b.args())...)
}

// through starts a run in the bucket through a proxy.
func (b *bucket) through(endpoint string, args ...string) *process {
	b.t.Helper()
	return b.start(slices.Concat(args, in(b.store, endpoint, b.name))...)
}

func (b *bucket) start(args ...string) *process {
	b.t.Helper()
	p := start(b.t, args...)
	b.runs = append(b.runs, p)
	return p
}

func (b *bucket) tryPut(key, content string) error {
	if b.own != nil {
		return b.own.put(b, key, content)
	}
	_, err := b.core.Client.PutObject(b.t.Context(), b.name, key, strings.NewReader(content), int64(len(content)),
		minio.PutObjectOptions{ContentType: "text/plain"})
	return err
}

func (b *bucket) put(key, content string) { b.t.Helper(); b.must(b.tryPut(key, content)) }

// An item is one object, or one version of it, with everything that could change.
type item struct {
	ETag, Content string
	Modified      time.Time
	Size          int64
	Latest        bool
	DeleteMarker  bool
}

// snapshot returns everything in the bucket, including incomplete uploads. It repeats if the store
// is still removing objects for a warp that has been killed.
func (b *bucket) snapshot() map[string]item {
	b.t.Helper()
	for range 20 {
		if all, whole := b.look(); whole {
			return all
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatal("whatever is listed is gone when it is read")
	return nil
}

func (b *bucket) look() (all map[string]item, whole bool) {
	if b.own != nil {
		return b.own.look(b), true
	}
	b.t.Helper()
	ctx := context.WithoutCancel(b.t.Context())
	all = map[string]item{}
	for o := range b.core.Client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Recursive: true, WithVersions: b.versioned}) {
		b.must(o.Err)
		i := item{ETag: o.ETag, Modified: o.LastModified, Size: o.Size, DeleteMarker: o.IsDeleteMarker, Latest: o.IsLatest}
		if !o.IsDeleteMarker {
			if i.Content = b.content(o.Key, o.VersionID); i.Content == "" {
				return nil, false
			}
		}
		all[o.Key+"\x00"+o.VersionID] = i
	}
	uploads, err := b.core.ListMultipartUploads(ctx, b.name, "", "", "", "", 1000)
	b.must(err)
	for _, u := range uploads.Uploads {
		// MinIO keeps this list in memory. An upload stays in it if the client did not wait for its
		// end.
		if _, err := b.core.ListObjectParts(ctx, b.name, u.Key, u.UploadID, 0, 1); minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
			continue
		}
		all["unfinished upload of "+u.Key+"\x00"+u.UploadID] = item{Modified: u.Initiated}
	}
	return all, true
}

// content returns an object's content, or "" if it does not exist.
func (b *bucket) content(key, version string) string {
	b.t.Helper()
	body, _, _, err := b.core.GetObject(context.WithoutCancel(b.t.Context()), b.name, key, minio.GetObjectOptions{VersionID: version})
	if code := minio.ToErrorResponse(err).Code; code == minio.NoSuchVersion || code == minio.NoSuchKey {
		return ""
	}
	if err != nil {
		b.t.Fatalf("read %q: %v", key, err)
	}
	defer body.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, body)
	b.must(err)
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// same checks that the bucket is exactly as before: everything is there and unchanged, and nothing
// was added.
func (b *bucket) same(want map[string]item) {
	b.t.Helper()
	got := b.snapshot()
	for k, w := range want {
		g, ok := got[k]
		if !ok {
			b.t.Errorf("%q is LOST", k)
		} else if g != w {
			b.t.Errorf("%q was\n%+v and is\n%+v", k, w, g)
		}
	}
	var left []string
	for k := range got {
		if _, ok := want[k]; !ok {
			left = append(left, k)
		}
	}
	if slices.Sort(left); len(left) > 0 {
		b.t.Errorf("%d leftovers, such as %q", len(left), left[:min(len(left), 8)])
	}
}

// keys returns the names of all objects that match. They may change meanwhile.
func (b *bucket) keys(fit func(string) bool) []string {
	b.t.Helper()
	var names []string
	for o := range b.core.Client.ListObjectsIter(b.t.Context(), b.name, minio.ListObjectsOptions{Recursive: true}) {
		b.must(o.Err)
		if fit(o.Key) {
			names = append(names, o.Key)
		}
	}
	return names
}

func isMarker(key string) bool { return strings.HasPrefix(key, ".warp/") }
func isData(key string) bool   { return !isMarker(key) }

// takenSeed is a seed under whose prefix there are foreign objects.
const takenSeed = 4711

// ownName returns a name that a run of this seed would upload to.
func ownName(prefix string, seed uint64) string {
	return generator.NewNames(prefix+generator.RunPrefix(seed), seed, generator.Layout{}).Key(0, 0)
}

// hostileMarkers are objects under .warp/ that look like warp's markers but are not: what another
// program may keep there, and what would make warp delete photos if it believed them.
func hostileMarkers() map[string]string {
	marker := func(run, prefix string, seed uint64) string {
		return fmt.Sprintf(`{"warp":"v1","run":%q,"benchmark":"get","prefix":%q,"seed":"%d","lease_s":0.001,"claimed":true}`, run, prefix, seed)
	}
	return map[string]string{
		".warp/settings.json":      `{"theme":"dark","run":"settings","prefix":["photos/"],"seed":1}`,
		".warp/broken.json":        `{"run":"broken","prefix":"pho`,
		".warp/EveryAll.json":      marker("EveryAll", "", 1),
		".warp/photosss.json":      marker("photosss", "photos/", 1),
		".warp/mismatch.json":      marker("other", generator.RunPrefix(1), 1),
		".warp/wrongsee.json":      marker("wrongsee", generator.RunPrefix(1), 2),
		".warp/nolease.json":       `{"run":"nolease","prefix":"` + generator.RunPrefix(1) + `","seed":"1","lease_s":-5,"claimed":true}`,
		".warp/number.json":        `7`,
		".warp/null.json":          `null`,
		".warp/large.json":         strings.Repeat("x", 100_000),
		".warp/notes.txt":          "not a marker",
		".warp/more/abcdefgh.json": marker("more/abcdefgh", "photos/", 1),
	}
}

// fill puts foreign objects into the bucket and returns them. It leaves out names that a store does
// not accept.
func (b *bucket) fill() map[string]item {
	b.t.Helper()
	run := generator.RunPrefix(takenSeed)
	objects := map[string]string{
		"photo.jpg": "a photo", "photos/1.jpg": "one", "photos/2.jpg": "two", "photos/2023/3.jpg": "three", "photosalbum": "no slash",
		"a/b/c/d/e.txt": "deep", "empty": "",
		// Next to ours, and under the prefix of a known seed.
		"warp-notes/readme": "mine", "warp-0000000000000/00000000/0.00000000.rnd": "mine too",
		"photos/warp-0000000000000/0.0000000000000000.rnd": "and mine",
		run + "00000000/0.00000000.rnd":                    "plausible", run + "0.0000000000000000.rnd": "plausible as well",
		run + "notes.txt": "notes",
		// The exact name that this seed would upload to.
		ownName("", takenSeed): "precious", ownName("photos/", takenSeed): "more precious",
	}
	maps.Copy(objects, hostileMarkers())
	for key, content := range objects {
		b.put(key, content)
	}
	for _, key := range []string{"with space.txt", " leading", "ünï/cödé-日本語.txt", "100%.txt", "%2F.txt", "a+b&c=d?e#f.txt", "folder/",
		"quo'te\"<>.xml", "back\\slash", "tab\tname", "trailing.", "emoji 🙂"} {
		if err := b.tryPut(key, "odd "+key); err != nil && b.tryPut(key, "") != nil {
			b.t.Logf("%s does not take the name %q: %v", b.store.Name, key, err)
		}
	}
	if b.versioned {
		for i := range 3 {
			b.put("versions/many", fmt.Sprint("version ", i))
			b.put("versions/deleted", fmt.Sprint("deleted ", i))
		}
		b.must(b.core.RemoveObject(b.t.Context(), b.name, "versions/deleted", minio.RemoveObjectOptions{}))
		// A listing shows nothing under this seed's prefix, but there is an old version.
		b.put(ownName("", hiddenSeed), "hidden by a delete marker")
		b.must(b.core.RemoveObject(b.t.Context(), b.name, ownName("", hiddenSeed), minio.RemoveObjectOptions{}))
	}
	return b.snapshot()
}

// hiddenSeed is a seed whose prefix contains foreign versions, but no object.
const hiddenSeed = 815

// unfinished starts a foreign upload in parts.
func (b *bucket) unfinished(key string) {
	b.t.Helper()
	id, err := b.core.NewMultipartUpload(b.t.Context(), b.name, key, minio.PutObjectOptions{})
	b.must(err)
	_, err = b.core.PutObjectPart(b.t.Context(), b.name, key, id, 1, bytes.NewReader([]byte("part")), 4, minio.PutObjectPartOptions{})
	b.must(err)
}

var statOptions = minio.StatObjectOptions{}
