package gcs

import (
	"context"
	"errors"
	"net/http"

	"warp/pkg/store"
	"warp/pkg/store/minio"
	"warp/pkg/store/s3provider"
)

func signsByKeys(cfg *store.Config) bool {
	if cfg.Credentials == nil || cfg.Bearer.Given() {
		return false
	}
	keys, err := cfg.Credentials.Keys(context.Background())
	return err == nil && !keys.Anonymous()
}

// openInteroperable opens the S3 interface. It does not accept payload in signed chunks.
func openInteroperable(cfg *store.Config) (driver store.Driver, err error) {
	if cfg.Encryption.Kind == store.SSEKMS {
		return driver, errors.New("with HMAC keys, Google Cloud Storage accepts no key of its key service: use a token or --credentials-file")
	}
	cfg.UnsignedPayload = true
	if driver, err = s3provider.Open(cfg); err != nil {
		return driver, err
	}
	engine := driver.Engine
	driver.Engine = func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
		e, err := engine(cfg, a, n)
		if err != nil {
			return nil, err
		}
		return singleDeletes{e.(s3provider.Complete)}, nil
	}
	driver.Admin = func(cfg *store.Config, a store.Address) (store.Admin, error) {
		admin, err := minio.NewAdmin(cfg, a)
		return interoperableAdmin{admin}, err
	}
	return driver, nil
}

// singleDeletes is an engine for an S3 store that cannot delete several objects with one request.
// It deletes them one by one.
// The interface has conditions on generations, but none on the ETags that S3 uses.
type singleDeletes struct{ s3provider.Complete }

func (s singleDeletes) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	if p.If.Given() {
		return store.Object{}, store.ErrUnsupported
	}
	return s.Complete.Put(ctx, p, tr)
}

func (s singleDeletes) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	if u.If.Given() {
		return store.Object{}, store.ErrUnsupported
	}
	return s.Complete.CompleteUpload(ctx, u, parts, tr)
}

func (s singleDeletes) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Given() {
		return store.ErrUnsupported
	}
	return s.Delete(ctx, []store.Ref{ref}, tr)
}

func (s singleDeletes) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	return deleteEach(ctx, s.Complete, refs, tr)
}

// interoperableAdmin is singleDeletes for bookkeeping. It rejects buckets that keep versions,
// because the interface does not list versions as S3 does.
type interoperableAdmin struct{ *minio.Admin }

// Delete deletes one object after the other.
func (i interoperableAdmin) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	return deleteEach(ctx, i.Admin, refs, tr)
}

// Versioning returns "" for a bucket that makes no versions now. What warp writes and deletes there
// is gone.
func (i interoperableAdmin) Versioning(ctx context.Context, bucket string) (string, error) {
	status, err := i.Admin.Versioning(ctx, bucket)
	if err == nil && status == "Enabled" {
		return "", errNoVersions
	}
	return "", err
}

// SetVersioning fails.
func (i interoperableAdmin) SetVersioning(context.Context, string, bool) error {
	return errNoVersions
}

var errNoVersions = store.Errorf("NoVersions", http.StatusBadRequest, // NotImplemented would mean that there are no versions
	"with HMAC keys Google Cloud Storage does not list versions as S3 does: use a token or --credentials-file")

// deleteEach deletes all of refs, and returns the first error. As in S3, a missing object counts as
// deleted.
func deleteEach(ctx context.Context, e store.Engine, refs []store.Ref, tr *store.Trace) error {
	var first error
	for i := range refs {
		next := tr
		if i > 0 {
			next = tr.Next()
		}
		err := e.Delete(ctx, refs[i:i+1], next)
		if i > 0 {
			tr.Add(next)
		}
		var refused *store.Error
		if errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == store.CodeNoKey {
			err = nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return first
}
