package s3mem

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/tags"

	"warp/internal/check"
)

// listVersions lists all versions, a page of two at a time, as "KEY ID" with "latest" and "marker" behind them.
func listVersions(t *testing.T, e *Embedded, c *minio.Core) (list []string) {
	t.Helper()
	for v := range c.Client.ListObjects(t.Context(), "bkt", minio.ListObjectsOptions{WithVersions: true, Recursive: true, MaxKeys: 2}) {
		check.OK(t, v.Err)
		line := v.Key + " " + v.VersionID
		if v.IsLatest {
			line += " latest"
		}
		if v.IsDeleteMarker {
			line += " marker"
		}
		list = append(list, line)
	}
	return list
}

func TestVersions(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	put(t, c, "old", []byte("before"), minio.PutObjectOptions{})
	check.OK(t, c.EnableVersioning(ctx, "bkt"))
	if v, err := c.GetBucketVersioning(ctx, "bkt"); err != nil || v.Status != "Enabled" {
		t.Fatalf("%+v, %v", v, err)
	}
	var ids []string
	for i := range 3 {
		ids = append(ids, put(t, c, "k", fmt.Append(nil, "version ", i), minio.PutObjectOptions{}).VersionID)
	}
	for i, id := range ids {
		o := minio.GetObjectOptions{VersionID: id}
		if got := get(t, c, "k", o); string(got) != fmt.Sprint("version ", i) {
			t.Errorf("version %s is %q", id, got)
		}
		if info, err := c.Client.StatObject(ctx, "bkt", "k", o); err != nil || info.VersionID != id || info.Size != 9 {
			t.Errorf("HEAD of %s: %+v, %v", id, info, err)
		}
	}
	check.OK(t, c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{}))
	_, _, _, err := c.GetObject(ctx, "bkt", "k", minio.GetObjectOptions{})
	wantCode(t, err, http.StatusNotFound, "NoSuchKey")
	for o := range c.Client.ListObjects(ctx, "bkt", minio.ListObjectsOptions{}) {
		if o.Key == "k" {
			t.Error("a listing shows an object that is deleted")
		}
	}
	put(t, c, "old", []byte("after"), minio.PutObjectOptions{})
	list := listVersions(t, e, c)
	if len(list) != 6 || !strings.HasSuffix(list[0], " latest marker") || list[1] != "k "+ids[2] || list[5] != "old null" {
		t.Errorf("%q", list)
	}
	// The middle one, then the marker: the newest version is back.
	check.OK(t, c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{VersionID: ids[1]}))
	check.OK(t, c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{VersionID: strings.Fields(list[0])[1]}))
	if got := get(t, c, "k", minio.GetObjectOptions{}); string(got) != "version 2" {
		t.Errorf("the object is %q", got)
	}
	_, _, _, err = c.GetObject(ctx, "bkt", "k", minio.GetObjectOptions{VersionID: ids[1]})
	wantCode(t, err, http.StatusNotFound, "NoSuchVersion")
	check.OK(t, c.SuspendVersioning(ctx, "bkt"))
	for _, text := range []string{"one", "two"} {
		put(t, c, "k", []byte(text), minio.PutObjectOptions{})
	}
	if got := get(t, c, "k", minio.GetObjectOptions{}); string(got) != "two" {
		t.Errorf("the object is %q", got)
	}
	if list := listVersions(t, e, c); len(list) != 5 || list[0] != "k null latest" {
		t.Errorf("with versions suspended: %q", list)
	}
	removeAll(t, e, c)
}

// removeAll removes all versions in one request, and checks that no memory is left.
func removeAll(t *testing.T, e *Embedded, c *minio.Core) {
	t.Helper()
	versions := make(chan minio.ObjectInfo, 100)
	for _, line := range listVersions(t, e, c) {
		f := strings.Fields(line)
		versions <- minio.ObjectInfo{Key: f[0], VersionID: f[1]}
	}
	close(versions)
	for err := range c.RemoveObjects(t.Context(), "bkt", versions, minio.RemoveObjectsOptions{GovernanceBypass: true}) {
		t.Error(err)
	}
	if n := e.mem.used.Load(); n != 0 {
		t.Errorf("%d bytes are counted for nothing", n)
	}
}

func TestLocks(t *testing.T) {
	e, err := Start(EmbeddedOptions{})
	check.OK(t, err)
	defer e.Close()
	c, ctx := newClient(t, e.Addr()), t.Context()
	check.OK(t, c.MakeBucket(ctx, "bkt", minio.MakeBucketOptions{ObjectLocking: true}))
	if enabled, _, _, _, err := c.GetObjectLockConfig(ctx, "bkt"); err != nil || enabled != "Enabled" {
		t.Fatalf("%s, %v", enabled, err)
	}
	id := put(t, c, "k", []byte("locked"), minio.PutObjectOptions{}).VersionID
	lock := func(mode minio.RetentionMode, until time.Duration, bypass bool) error {
		at := time.Now().Add(until)
		return c.PutObjectRetention(ctx, "bkt", "k", minio.PutObjectRetentionOptions{Mode: &mode, RetainUntilDate: &at, VersionID: id, GovernanceBypass: bypass})
	}
	remove := minio.RemoveObjectOptions{VersionID: id}
	check.OK(t, lock(minio.Governance, time.Hour, false))
	if mode, until, err := c.GetObjectRetention(ctx, "bkt", "k", id); err != nil || *mode != minio.Governance || time.Until(*until) < 59*time.Minute {
		t.Errorf("%v, %v, %v", mode, until, err)
	}
	wantCode(t, c.RemoveObject(ctx, "bkt", "k", remove), http.StatusForbidden, codeLocked)
	wantCode(t, lock(minio.Governance, time.Minute, false), http.StatusForbidden, codeLocked)
	check.OK(t, lock(minio.Governance, time.Minute, true))
	check.OK(t, c.RemoveObject(ctx, "bkt", "k", minio.RemoveObjectOptions{VersionID: id, GovernanceBypass: true}))

	id = put(t, c, "k", []byte("locked"), minio.PutObjectOptions{}).VersionID
	check.OK(t, lock(minio.Compliance, 50*time.Millisecond, false))
	remove = minio.RemoveObjectOptions{VersionID: id, GovernanceBypass: true}
	check.Eventually(t, "end of the lock", func() bool {
		err := c.RemoveObject(ctx, "bkt", "k", remove)
		if err != nil {
			wantCode(t, err, http.StatusForbidden, codeLocked)
		}
		return err == nil
	})
	id = put(t, c, "k", []byte("locked"), minio.PutObjectOptions{}).VersionID
	check.OK(t, lock(minio.Governance, time.Hour, false))
	removeAll(t, e, c)
}

func TestTags(t *testing.T) {
	_, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	put(t, c, "k", []byte("tagged"), minio.PutObjectOptions{UserTags: map[string]string{"a": "1", "b c": "2/3"}})
	want := func(wanted map[string]string) {
		t.Helper()
		got, err := c.GetObjectTagging(ctx, "bkt", "k", minio.GetObjectTaggingOptions{})
		if err != nil || !maps.Equal(got.ToMap(), wanted) {
			t.Errorf("%v, %v, want %v", got, err, wanted)
		}
	}
	want(map[string]string{"a": "1", "b c": "2/3"})
	next, err := tags.NewTags(map[string]string{"d": "4"}, true)
	check.OK(t, err)
	check.OK(t, c.PutObjectTagging(ctx, "bkt", "k", next, minio.PutObjectTaggingOptions{}))
	want(map[string]string{"d": "4"})
	_, err = c.CopyObject(ctx, "bkt", "k", "bkt", "copy", nil, minio.CopySrcOptions{}, minio.PutObjectOptions{})
	check.OK(t, err)
	check.OK(t, c.RemoveObjectTagging(ctx, "bkt", "k", minio.RemoveObjectTaggingOptions{}))
	want(nil)
	if got, err := c.GetObjectTagging(ctx, "bkt", "copy", minio.GetObjectTaggingOptions{}); err != nil || got.ToMap()["d"] != "4" {
		t.Errorf("the copy has %v, %v", got, err)
	}
	if got := get(t, c, "k", minio.GetObjectOptions{}); string(got) != "tagged" {
		t.Errorf("the object is %q", got)
	}
}

func TestCopies(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	ctx := t.Context()
	data := payload(100_000)
	put(t, c, "from", data, minio.PutObjectOptions{UserMetadata: map[string]string{"a": "b"}})
	_, err := c.CopyObject(ctx, "bkt", "from", "bkt", "to", nil, minio.CopySrcOptions{}, minio.PutObjectOptions{})
	check.OK(t, err)
	info, err := c.Client.StatObject(ctx, "bkt", "to", minio.GetObjectOptions{})
	if err != nil || info.UserMetadata["A"] != "b" || !bytes.Equal(get(t, c, "to", minio.GetObjectOptions{}), data) {
		t.Errorf("the copy is %+v, %v", info, err)
	}
	id, err := c.NewMultipartUpload(ctx, "bkt", "joined", minio.PutObjectOptions{})
	check.OK(t, err)
	var parts []minio.CompletePart
	for i, r := range [][2]int64{{0, 60_000}, {60_000, 40_000}} {
		p, err := c.CopyObjectPart(ctx, "bkt", "from", "bkt", "joined", id, i+1, r[0], r[1], nil)
		check.OK(t, err)
		parts = append(parts, p)
	}
	_, err = c.CompleteMultipartUpload(ctx, "bkt", "joined", id, parts, minio.PutObjectOptions{})
	check.OK(t, err)
	if !bytes.Equal(get(t, c, "joined", minio.GetObjectOptions{}), data) {
		t.Error("the object joined of copied parts differs")
	}
	for n, want := range map[int][]byte{1: data[:60_000], 2: data[60_000:]} {
		if got := get(t, c, "joined", minio.GetObjectOptions{PartNumber: n}); !bytes.Equal(got, want) {
			t.Errorf("part %d has %d bytes", n, len(got))
		}
	}
	_, _, _, err = c.GetObject(ctx, "bkt", "joined", minio.GetObjectOptions{PartNumber: 3})
	wantCode(t, err, http.StatusRequestedRangeNotSatisfiable, "InvalidPartNumber")
	_, err = c.CopyObject(ctx, "bkt", "nowhere", "bkt", "to", nil, minio.CopySrcOptions{}, minio.PutObjectOptions{})
	wantCode(t, err, http.StatusNotFound, "NoSuchKey")
	for _, key := range []string{"from", "to", "joined"} {
		check.OK(t, c.RemoveObject(ctx, "bkt", key, minio.RemoveObjectOptions{}))
	}
	if n := e.mem.used.Load(); n != 0 {
		t.Errorf("%d bytes are counted for nothing", n)
	}
}

func TestAppends(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	url := "http://" + e.Addr() + "/bkt/k"
	for i, status := range []int{200, 200, 400} {
		offset := []string{"0", "4", "4"}[i]
		if got := request(t, "PUT", url, writeOffsetHeader, offset); got != status {
			t.Errorf("append %d: status %d, want %d", i, got, status)
		}
	}
	_, err := c.CopyObject(t.Context(), "bkt", "k", "bkt", "copy", nil, minio.CopySrcOptions{}, minio.PutObjectOptions{})
	check.OK(t, err)
	// An append to the copy must not show in the original, nor the other way round.
	for _, key := range []string{"k", "copy"} {
		if got := request(t, "PUT", "http://"+e.Addr()+"/bkt/"+key, writeOffsetHeader, "8"); got != 200 {
			t.Errorf("append to %s: status %d", key, got)
		}
		if got := get(t, c, key, minio.GetObjectOptions{}); string(got) != "bodybodybody" {
			t.Errorf("%s is %q", key, got)
		}
	}
}

func TestForms(t *testing.T) {
	e, c := start(t, EmbeddedOptions{})
	post := func(fields ...[2]string) int {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, f := range fields {
			check.OK(t, w.WriteField(f[0], f[1]))
		}
		file, err := w.CreateFormFile("file", "x")
		check.OK(t, err)
		_, err = file.Write([]byte("payload"))
		check.OK(t, err)
		check.OK(t, w.Close())
		resp, err := http.Post("http://"+e.Addr()+"/bkt", w.FormDataContentType(), &b)
		check.OK(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := post([2]string{"key", "k"}, [2]string{"policy", "any"}, [2]string{"Content-Type", "text/plain"}, [2]string{"x-amz-meta-a", "b"}); got != 204 {
		t.Errorf("status %d", got)
	}
	info, err := c.Client.StatObject(t.Context(), "bkt", "k", minio.GetObjectOptions{})
	if err != nil || info.ContentType != "text/plain" || info.UserMetadata["A"] != "b" || string(get(t, c, "k", minio.GetObjectOptions{})) != "payload" {
		t.Errorf("the object is %+v, %v", info, err)
	}
	for _, f := range [][2]string{{"x-amz-server-side-encryption", "AES256"}, {"acl", "public-read"}} {
		if got := post([2]string{"key", "k"}, f); got != http.StatusNotImplemented {
			t.Errorf("%s: status %d", f[0], got)
		}
	}
	if got := post(); got != http.StatusBadRequest {
		t.Errorf("without a key: status %d", got)
	}
}
