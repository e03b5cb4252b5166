package azure

import (
	"context"
	"net/http"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// An Admin does the bookkeeping in Blob Storage.
type Admin struct{ *Engine }

var (
	_ store.Admin        = (*Admin)(nil)
	_ store.Versioner    = (*Admin)(nil)
	_ store.UploadLister = (*Admin)(nil)
)

// containerRequest begins a request about a container.
func (a *Admin) containerRequest(method, name string) request {
	q := a.begin(method, name, "")
	q.Param("restype", "container")
	return q
}

// BucketExists requests the container's properties or, since not every shared access signature
// allows that, a listing.
func (a *Admin) BucketExists(ctx context.Context, name string) (bool, error) {
	q := a.containerRequest(http.MethodHead, name)
	defer q.End()
	r, err := a.send(ctx, q, store.NewTrace(time.Now()))
	if err == nil {
		err = checkOrigin(r)
	}
	if store.CodeOf(err) == store.CodeDenied && a.store.auth.sas != "" {
		var p page
		p, err = a.page(ctx, &store.List{Bucket: name, MaxKeys: 1}, nil, "", store.NewTrace(time.Now()))
		p.memory.Free()
	}
	return exists(err)
}

// checkOrigin returns an error if an answer to HEAD, which has no document, could come from any web
// server.
func checkOrigin(r *httpclient.Reply) error {
	if r.Header("x-ms-request-id") == "" && r.Header("x-ms-version") == "" {
		return store.BadAnswer(r.Status, "the answer has no x-ms-request-id and no x-ms-version")
	}
	return nil
}

// exists reports whether there is a container, given the error of a request for it. An error
// without a document is an answer to HEAD.
func exists(err error) (bool, error) {
	if code := store.CodeOf(err); code == store.CodeNoBucket || code == store.CodeNoKey {
		return false, nil
	}
	return err == nil, err
}

// ownMetadata marks a container that warp made.
const (
	ownMetadata = "created_by"
	ownValue    = "warp"
)

// MakeBucket creates a container.
func (a *Admin) MakeBucket(ctx context.Context, name string) error {
	q := a.containerRequest(http.MethodPut, name)
	defer q.End()
	q.Header("x-ms-meta-"+ownMetadata, ownValue)
	return a.do(ctx, q, store.NewTrace(time.Now()))
}

// MadeByWarp reports whether the container has warp's mark.
func (a *Admin) MadeByWarp(ctx context.Context, name string) bool {
	q := a.containerRequest(http.MethodHead, name)
	defer q.End()
	r, err := a.send(ctx, q, store.NewTrace(time.Now()))
	if err != nil {
		return false
	}
	return r.Header("x-ms-meta-"+ownMetadata) == ownValue
}

// Versioning looks at the answers to uploads, because only they show whether the account makes
// versions. Before there are any, it looks at the versions in the container.
func (a *Admin) Versioning(ctx context.Context, name string) (string, error) {
	if a.store.makesVersions(name) {
		return "Enabled", nil
	}
	p, err := a.page(ctx, &store.List{Bucket: name, Versions: true, MaxKeys: 1}, []string{"versions"}, "", store.NewTrace(time.Now()))
	defer p.memory.Free()
	if err != nil || len(p.entries) == 0 || p.entries[0].VersionID == "" {
		return "", err
	}
	a.store.noteVersion(name, p.entries[0].VersionID)
	return "Enabled", nil
}

// SetVersioning fails, because versioning belongs to the account.
func (a *Admin) SetVersioning(context.Context, string, bool) error {
	return store.Errorf("NotImplemented", 0, "versioning is a property of the storage account, which this API cannot change: az storage account blob-service-properties update --enable-versioning true")
}

// Headers returns the properties of a blob as S3 headers.
func (a *Admin) Headers(ctx context.Context, ref store.Ref, _ bool) (http.Header, error) {
	h := http.Header{}
	_, err := a.properties(ctx, ref, store.NewTrace(time.Now()), func(r *httpclient.Reply) {
		h.Set("Content-Type", r.ContentType())
		h.Set("X-Amz-Storage-Class", r.Header("x-ms-access-tier"))
		r.EachNamed("x-ms-meta-", func(name, value string) {
			setMetadata(h, strings.TrimPrefix(name, "x-ms-meta-"), value)
		})
	})
	return h, err
}

// setMetadata sets metadata under their names, and under the names with hyphens, which Azure does
// not accept.
func setMetadata(h http.Header, name, value string) {
	h.Set("X-Amz-Meta-"+name, value)
	h.Set("X-Amz-Meta-"+strings.ReplaceAll(name, "_", "-"), value)
}
