package engines

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// bookkeeping contains all requests on whose answers safety depends.
func bookkeeping(c *store.Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Versioning": func(ctx context.Context) error {
			state, err := c.Versioning(ctx, "bucket")
			if state == store.VersioningUnknown { // and not taken for a bucket without versions
				return store.BadAnswer(http.StatusOK, "unknown")
			}
			return err
		},
		"ObjectLock": func(ctx context.Context) error { _, err := c.ObjectLock(ctx, "bucket"); return err },
		"List": func(ctx context.Context) error {
			return c.List(ctx, store.List{Bucket: "bucket", Prefix: "p/"}, func() {}, func(store.Object) bool { return true })
		},
		"List versions": func(ctx context.Context) error {
			return c.List(ctx, store.List{Bucket: "bucket", Prefix: "p/", Versions: true}, func() {}, func(store.Object) bool { return true })
		},
		"AbortUploads": func(ctx context.Context) error {
			return c.AbortUploads(ctx, "bucket", "p/", func(string) bool { return true })
		},
		"Delete": func(ctx context.Context) error {
			return c.Delete(ctx, []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "b"}})
		},
		"ReadSmall": func(ctx context.Context) error {
			_, err := c.ReadSmall(ctx, store.Ref{Bucket: "bucket", Key: ".warp/a.json"})
			return err
		},
		"SetVersioning": func(ctx context.Context) error { return c.SetVersioning(ctx, "bucket", false) },
	}
}

// If a store sends an error or another document with status 200, bookkeeping fails. This must not
// look like an empty bucket or like a store without the function.
func TestBookkeepingWantsItsDocument(t *testing.T) {
	t.Parallel()
	docs := map[string]string{
		"an error":        "<Error><Code>InternalError</Code><Message>oh</Message></Error>",
		"not implemented": "<Error><Code>NotImplemented</Code></Error>",
		"no bucket":       "<Error><Code>NoSuchBucket</Code></Error>",
		"no upload":       "<Error><Code>NoSuchUpload</Code></Error>",
		"a web page":      "<html><body>Welcome</body></html>",
		"nothing":         "",
	}
	for said, doc := range docs {
		c, _ := clientOf(t, answer(200, map[string]string{"Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT"}, doc))
		for name, ask := range bookkeeping(c) {
			if said == "a web page" || said == "nothing" {
				if name == "ReadSmall" || name == "SetVersioning" {
					continue // any content may be an object, and any answer but an error is a success
				}
			}
			err := ask(t.Context())
			if store.CodeOf(err) != store.CodeBadAnswer {
				t.Errorf("%s, answered by %s: %v", name, said, err)
			}
		}
	}
}

// A document that never ends does not fill the memory.
func TestBookkeepingBoundsDocuments(t *testing.T) {
	t.Parallel()
	c, _ := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		junk := []byte(strings.Repeat("<a/>", 64<<10))
		root := "<ListBucketResult>"
		for range 2 * (16 << 20) / len(junk) {
			if _, err := io.WriteString(w, root); err != nil {
				return
			}
			root = string(junk)
		}
	})
	for name, ask := range bookkeeping(c) {
		if name == "ReadSmall" || name == "SetVersioning" {
			continue
		}
		if err := ask(t.Context()); store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Listings with names out of order or outside the prefix are an error, even if each page has a new
// token.
func TestBookkeepingWantsOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, bucket   string
		versions, back bool
		express        bool               // use S3 Express, whose listings are unordered
		key            func(n int) string // the key on each page
		found          int                // entries before the error
	}{
		{name: "the same name again and again", key: func(int) string { return "p/a" }},
		{name: "the same version again and again", versions: true, key: func(int) string { return "p/a" }},
		{name: "names that go back", key: func(n int) string { return fmt.Sprintf("p/%d", 9-n) }},
		{name: "pages of versions that go back", versions: true, back: true, key: func(n int) string { return fmt.Sprintf("p/%d", n) }},
		{name: "versions that go back", versions: true, key: func(n int) string { return fmt.Sprintf("p/%d", 9-n) }, found: 5}, // versitygw lists delete markers last
		{name: "names elsewhere", key: func(n int) string { return fmt.Sprintf("q/%d", n) }},
		{name: "names in order", key: func(n int) string { return fmt.Sprintf("p/%d", n) }, found: 5},
		{name: "the last name of a page twice", key: func(n int) string { return fmt.Sprintf("p/%d", n/2) }, found: 3},
		{name: "names in no order, in a bucket named as a directory bucket is", bucket: "bucket--use1-az4--x-s3", key: func(n int) string { return fmt.Sprintf("p/%d", 9-n) }},
		{name: "names in no order", express: true, key: func(n int) string { return fmt.Sprintf("p/%d", 9-n) }, found: 5},
		{name: "names elsewhere, in no order", express: true, key: func(n int) string { return fmt.Sprintf("q/%d", 9-n) }},
	}
	for _, test := range tests {
		n := 0
		provider := S3
		if test.express {
			provider = s3.Express
		}
		c, _ := clientAs(t, provider, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("session") {
				_, _ = io.WriteString(w, "<CreateSessionResult><Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"+
					"<SessionToken>t</SessionToken></Credentials></CreateSessionResult>")
				return
			}
			root, entry, next := "ListBucketResult", "Contents", "NextContinuationToken"
			if test.versions {
				root, entry, next = "ListVersionsResult", "Version", "NextKeyMarker"
			}
			n++
			at := n
			if test.back {
				at = 9 - n
			}
			answer(200, nil, fmt.Sprintf("<%s><IsTruncated>%t</IsTruncated><%s>%d</%s><%s><Key>%s</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified></%s></%s>",
				root, n < 5, next, at, next, entry, test.key(n), entry, root))(w, r)
		})
		bucket := cmp.Or(test.bucket, "bucket")
		found := 0
		err := c.List(t.Context(), store.List{Bucket: bucket, Prefix: "p/", Versions: test.versions}, func() {}, func(store.Object) bool { found++; return true })
		if (store.CodeOf(err) == store.CodeBadAnswer) != (test.found == 0) || test.found > 0 && (err != nil || found != test.found) {
			t.Errorf("%s: %v after %d entries", test.name, err, found)
		}
	}
}

// A listing of uploads ends if it repeats itself or is another document.
func TestUploadsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]func(n int) string{
		"the same place":  func(int) string { return "<NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>" },
		"no place":        func(int) string { return "" },
		"names that move": func(n int) string { return fmt.Sprintf("<NextKeyMarker>%c</NextKeyMarker>", 'z'-n) },
	}
	for name, next := range tests {
		n := 0
		c, _ := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			n++
			answer(200, nil, "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><Upload><Key>p/a</Key><UploadId>1</UploadId></Upload>"+next(n)+"</ListMultipartUploadsResult>")(w, r)
		})
		err := c.AbortUploads(t.Context(), "bucket", "p/", func(string) bool { return false })
		if store.CodeOf(err) != store.CodeBadAnswer || n > 4 {
			t.Errorf("%s: %v after %d pages", name, err, n)
		}
	}
}

// Documents that another question would have answered mean that the store ignores the parameter.
func TestBookkeepingOfIgnoredParameters(t *testing.T) {
	t.Parallel()
	listing := "<ListBucketResult><Contents><Key>p/a</Key></Contents></ListBucketResult>"
	c, _ := clientOf(t, answer(200, nil, listing))
	if state, err := c.Versioning(t.Context(), "bucket"); err != nil || state != store.VersioningUnknown {
		t.Errorf("Versioning: %q, %v", state, err)
	}
	if lists, err := c.ListsVersions(t.Context(), "bucket"); err != nil || lists {
		t.Errorf("ListsVersions: %t, %v", lists, err)
	}
	if lock, err := c.ObjectLock(t.Context(), "bucket"); err != nil || lock.Enabled {
		t.Errorf("ObjectLock: %+v, %v", lock, err)
	}
	if err := c.AbortUploads(t.Context(), "bucket", "p/", func(string) bool { return true }); !store.IsUnsupported(err) {
		t.Errorf("AbortUploads: %v", err)
	}
	if region, err := c.Region(t.Context(), "bucket"); err != nil || region != "us-east-1" {
		t.Errorf("Region: %q, %v", region, err)
	}

	moto, _ := clientOf(t, answer(200, nil, `<GetBucketVersioningResponse/>`))
	if state, err := moto.Versioning(t.Context(), "bucket"); err != nil || state != store.VersioningUnknown {
		t.Errorf("moto's versioning: %q, %v", state, err)
	}
	mock, _ := clientOf(t, answer(200, nil, `<ListBucketResult><Version><Key>p/a</Key><VersionId>1</VersionId></Version></ListBucketResult>`))
	if lists, err := mock.ListsVersions(t.Context(), "bucket"); err != nil || !lists {
		t.Errorf("S3Mock's versions: %t, %v", lists, err)
	}
	lock, _ := clientOf(t, answer(400, nil, `<Error><Code>InvalidRequest</Code><Message>Bucket is missing Object Lock Configuration</Message></Error>`))
	if lock, err := lock.ObjectLock(t.Context(), "bucket"); err != nil || lock.Enabled {
		t.Errorf("S3Mock's object lock: %+v, %v", lock, err)
	}
}

// A store that does not know the region of its buckets has only one. A bucket that does not exist
// has none.
func TestRegionOfStoresWithoutRegions(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		"<Error><Code>NoSuchKey</Code></Error>":             {404, ""},
		"<Error><Code>NoSuchBucket</Code></Error>":          {404, "NoSuchBucket"},
		"<Error><Code>NotImplemented</Code></Error>":        {501, ""},
		"<ListBucketResult></ListBucketResult>":             {200, ""},
		"<html>Welcome</html>":                              {200, store.CodeBadAnswer},
		"<LocationConstraint>eu</LocationConstraint>":       {200, ""},
		"<Error><Code>SignatureDoesNotMatch</Code></Error>": {403, "SignatureDoesNotMatch"},
	} {
		srv := httptest.NewServer(answer(want.status, nil, body))
		defer srv.Close()
		c, err := New(store.Config{Hosts: store.Addresses([]string{srv.Listener.Addr().String()}), Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}})
		check.OK(t, err)
		if _, err := c.Region(t.Context(), "bucket"); store.CodeOf(err) != want.code {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// S3Mock answers a question for tags with an empty document if the object has none.
func TestEmptyTags(t *testing.T) {
	t.Parallel()
	_, host := clientOf(t, answer(200, nil, ""))
	tags, err := host.Tags(t.Context(), store.Ref{Bucket: "bucket", Key: "a"}, store.NewTrace(time.Now()))
	if err != nil || len(tags) != 0 {
		t.Errorf("tags %v, %v", tags, err)
	}
}

// An empty answer with status 200 does not confirm a copy or an upload in parts, and is not a closed connection.
func TestEmptyConfirmations(t *testing.T) {
	t.Parallel()
	_, host := clientOf(t, answer(200, nil, ""))
	from, to := store.Ref{Bucket: "bucket", Key: "a"}, store.Ref{Bucket: "bucket", Key: "b"}
	upload := store.Upload{Ref: to, ID: "id"}
	_, copied := host.Copy(t.Context(), store.Copy{From: from, To: to}, store.NewTrace(time.Now()))
	_, part := host.CopyPart(t.Context(), store.CopyPart{Upload: upload, Number: 1, From: from, Length: 1}, store.NewTrace(time.Now()))
	_, started := host.StartUpload(t.Context(), store.Put{Ref: to}, store.NewTrace(time.Now()))
	_, completed := host.CompleteUpload(t.Context(), upload, []store.Part{{Number: 1, ETag: "x"}}, store.NewTrace(time.Now()))
	for i, err := range []error{copied, part, started, completed} {
		if store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), "document is empty") {
			t.Errorf("request %d: %v", i, err)
		}
	}
}

// moto ignores the bypass of governance in a batch, and obeys it in single deletions.
func TestDeleteLockedOneByOne(t *testing.T) {
	t.Parallel()
	var batches, single atomic.Int64
	c, _ := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			batches.Add(1)
			_, _ = io.WriteString(w, "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error><Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>")
		case r.Header.Get("x-amz-bypass-governance-retention") == "true" && r.URL.Query().Get("versionId") == "1":
			single.Add(1)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
		}
	})
	refs := []store.Ref{{Bucket: "bucket", Key: "a", VersionID: "1"}, {Bucket: "bucket", Key: "b", VersionID: "1"}}
	if err := c.DeleteLocked(t.Context(), refs); err != nil || batches.Load() != 1 || single.Load() != 2 {
		t.Errorf("%v after %d batches and %d single deletions", err, batches.Load(), single.Load())
	}
	refs[1].VersionID = "2"
	if err := c.DeleteLocked(t.Context(), refs); store.CodeOf(err) != "AccessDenied" || store.Repeatable(err) {
		t.Errorf("a version that nobody may delete: %v", err)
	}
}

// Some stores cannot delete several objects with one request. Bookkeeping deletes them one by one, and
// an object that is gone already, as after a repetition, is no error.
func TestDeleteWithoutBatches(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotImplemented, http.StatusMethodNotAllowed} {
		var single atomic.Int64
		c, host := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				w.WriteHeader(status)
			case strings.HasSuffix(r.URL.Path, "/gone"):
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			default:
				single.Add(1)
				w.WriteHeader(http.StatusNoContent)
			}
		})
		refs := []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "gone"}, {Bucket: "bucket", Key: "b"}}
		if err := c.Delete(t.Context(), refs); err != nil || single.Load() != 2 {
			t.Errorf("%d: %v after %d single deletions", status, err, single.Load())
		}
		if err := c.DeleteLocked(t.Context(), refs); err != nil || single.Load() != 4 {
			t.Errorf("%d, locked: %v after %d single deletions", status, err, single.Load())
		}
		if err := host.Delete(t.Context(), refs, store.NewTrace(time.Now())); !store.IsUnsupported(err) {
			t.Errorf("%d, measured: %v, want the store's refusal", status, err)
		}
	}
}

// The codes of the entries of a batch say whether a repetition helps, whatever the engine.
func TestDeletionsThatMayBeRepeated(t *testing.T) {
	t.Parallel()
	for code, repeatable := range map[string]bool{"AccessDenied": false, "MethodNotAllowed": false, "InternalError": true, "SlowDown": true} {
		doc := fmt.Sprintf("<DeleteResult><Error><Key>a</Key><Code>%s</Code></Error><Error><Key>b</Key><Code>%[1]s</Code></Error></DeleteResult>", code)
		for _, engine := range []string{"lean", "minio"} {
			srv := httptest.NewServer(answer(200, nil, doc))
			defer srv.Close()
			c, err := New(store.Config{Hosts: store.Addresses([]string{srv.Listener.Addr().String()}), Region: "us-east-1", Engine: engine,
				Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}, Concurrency: 1})
			check.OK(t, err)
			refs := []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "b"}}
			err = c.Use(func(h *store.Host) error { return h.Delete(t.Context(), refs, store.NewTrace(time.Now())) })
			if store.CodeOf(err) != code || store.Repeatable(err) != repeatable {
				t.Errorf("%s with engine %s: %v, repeatable %t", code, engine, err, store.Repeatable(err))
			}
		}
	}
}
