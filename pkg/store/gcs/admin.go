package gcs

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"warp/pkg/store"
)

// An Admin does the bookkeeping on one host.
type Admin struct {
	*Engine
	project, region string
}

var (
	_ store.Admin        = (*Admin)(nil)
	_ store.Locator      = (*Admin)(nil)
	_ store.Versioner    = (*Admin)(nil)
	_ store.UploadLister = (*Admin)(nil)
)

func (s *Store) admin(cfg *store.Config, a store.Address) (*Admin, error) {
	c, own, err := s.api().NewAdmin(cfg, a, store.AdminTimeout)
	if err != nil {
		return nil, err
	}
	var settings Settings
	if err := cfg.DecodeSettings(&settings); err != nil {
		return nil, err
	}
	return &Admin{Engine: s.newEngine(own, c, a.Path).lenient(), project: settings.Project, region: cfg.Region}, nil
}

// A bucket is a bucket's resource in the API.
type bucket struct {
	Name       string            `json:"name,omitempty"`
	Location   string            `json:"location,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Versioning *versioning       `json:"versioning,omitempty"`
}

type versioning struct {
	Enabled bool `json:"enabled"`
}

// toBucket sends a request about a bucket. It sends body and decodes the answer into into, unless
// they are nil.
func (a *Admin) toBucket(ctx context.Context, method, name string, body, into any) error {
	q := a.begin(method, apiPath)
	defer q.End()
	q.Raw("/b")
	if name != "" {
		q.Segment(name)
	}
	if method == http.MethodPost && a.project != "" {
		q.Param("project", a.project)
	}
	if body != nil {
		q.JSON(body)
	}
	r, err := a.send(ctx, q, "", store.NewTrace(time.Now()))
	if err != nil || into == nil {
		return err
	}
	return r.DecodeJSON("a bucket", into)
}

// BucketExists requests the bucket.
func (a *Admin) BucketExists(ctx context.Context, name string) (bool, error) {
	err := a.toBucket(ctx, http.MethodGet, name, nil, new(bucket))
	if store.CodeOf(err) == store.CodeNoBucket {
		return false, nil
	}
	return err == nil, err
}

// Region returns the bucket's location.
func (a *Admin) Region(ctx context.Context, name string) (string, error) {
	var b bucket
	err := a.toBucket(ctx, http.MethodGet, name, nil, &b)
	return b.Location, err
}

// ownLabel marks a bucket that warp made.
const ownLabel = "created-by"

// MakeBucket creates a bucket in the project.
func (a *Admin) MakeBucket(ctx context.Context, name string) error {
	err := a.toBucket(ctx, http.MethodPost, "", &bucket{Name: name, Location: a.region, Labels: map[string]string{ownLabel: "warp"}}, nil)
	if e, ok := err.(*store.Error); ok && e.Status == http.StatusBadRequest && a.project == "" {
		e.Message += " (the project in which it is to be made is not known: set GOOGLE_CLOUD_PROJECT, or make the bucket yourself)"
	}
	return err
}

// MadeByWarp reports whether the bucket has warp's label.
func (a *Admin) MadeByWarp(ctx context.Context, name string) bool {
	var b bucket
	return a.toBucket(ctx, http.MethodGet, name, nil, &b) == nil && b.Labels[ownLabel] == "warp"
}

// Versioning reports whether the bucket keeps generations.
func (a *Admin) Versioning(ctx context.Context, name string) (string, error) {
	var b bucket
	if err := a.toBucket(ctx, http.MethodGet, name, nil, &b); err != nil || b.Versioning == nil {
		return "", err
	}
	a.store.versioned.Store(name, b.Versioning.Enabled)
	if b.Versioning.Enabled {
		return "Enabled", nil
	}
	return "Suspended", nil
}

// SetVersioning makes the bucket keep generations, or stop keeping them.
func (a *Admin) SetVersioning(ctx context.Context, name string, on bool) error {
	err := a.toBucket(ctx, http.MethodPatch, name, &bucket{Versioning: &versioning{on}}, nil)
	if err == nil {
		a.store.versioned.Store(name, on)
	}
	return err
}

// Headers returns the object's metadata as S3 headers.
func (a *Admin) Headers(ctx context.Context, ref store.Ref, _ bool) (http.Header, error) {
	r, err := a.resource(ctx, ref, "contentType,storageClass,metadata,kmsKeyName", store.NewTrace(time.Now()))
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for name, value := range r.Metadata {
		h.Set("X-Amz-Meta-"+name, value)
	}
	h.Set("Content-Type", r.ContentType)
	h.Set("X-Amz-Storage-Class", cmp.Or(r.StorageClass, "STANDARD"))
	if r.Key != "" {
		h.Set("X-Amz-Server-Side-Encryption", "aws:kms")
		h.Set("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", r.Key)
	}
	return h, nil
}
