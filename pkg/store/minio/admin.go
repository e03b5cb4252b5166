package minio

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/minio/minio-go/v7/pkg/tags"

	"warp/pkg/store"
)

// An Admin does bookkeeping through minio-go.
type Admin struct {
	*Engine
	region string
	key    encrypt.ServerSide // with SSE-C the key of the load's uploads; nil otherwise
}

// NewAdmin returns an Admin for one host.
func NewAdmin(cfg *store.Config, a store.Address) (*Admin, error) {
	e, err := openAdmin(cfg, a, nil)
	if err != nil {
		return nil, err
	}
	admin := &Admin{Engine: e, region: cfg.Region}
	if cfg.Encryption.Kind == store.SSEC {
		admin.key, err = serverSide(&cfg.Encryption)
	}
	return admin, err
}

// ownTag marks a bucket that warp made. A store without bucket tags loses the mark, and warp then
// treats the bucket as somebody else's, which is the safe side.
const ownTag = "created-by"

func (a *Admin) BucketExists(ctx context.Context, bucket string) (bool, error) {
	exists, err := a.core.Client.BucketExists(ctx, bucket)
	return exists, asError(err, nil)
}

func (a *Admin) Region(ctx context.Context, bucket string) (string, error) {
	region, err := a.core.GetBucketLocation(ctx, bucket)
	return region, asError(err, nil)
}

func (a *Admin) MakeBucket(ctx context.Context, bucket string) error {
	return a.makeBucket(ctx, bucket, false)
}

func (a *Admin) MakeLockedBucket(ctx context.Context, bucket string) error {
	return a.makeBucket(ctx, bucket, true)
}

func (a *Admin) makeBucket(ctx context.Context, bucket string, lock bool) error {
	err := a.core.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: a.region, ObjectLocking: lock})
	if err != nil {
		return asError(err, nil)
	}
	mark, err := tags.MapToBucketTags(map[string]string{ownTag: "warp"})
	if err == nil {
		_ = a.core.SetBucketTagging(ctx, bucket, mark) // optional; see ownTag
	}
	return nil
}

func (a *Admin) RemoveBucket(ctx context.Context, bucket string) (removed bool, err error) {
	if !a.MadeByWarp(ctx, bucket) {
		return false, nil
	}
	err = asError(a.core.RemoveBucket(ctx, bucket), nil)
	if store.CodeOf(err) == "BucketNotEmpty" {
		return false, nil
	}
	return err == nil, err
}

func (a *Admin) MadeByWarp(ctx context.Context, bucket string) bool {
	t, err := a.core.GetBucketTagging(ctx, bucket)
	return err == nil && t.ToMap()[ownTag] == "warp"
}

func (a *Admin) Versioning(ctx context.Context, bucket string) (string, error) {
	v, err := a.core.GetBucketVersioning(ctx, bucket)
	return v.Status, asError(err, nil)
}

func (a *Admin) SetVersioning(ctx context.Context, bucket string, on bool) error {
	if on {
		return asError(a.core.EnableVersioning(ctx, bucket), nil)
	}
	return asError(a.core.SuspendVersioning(ctx, bucket), nil)
}

func (a *Admin) ObjectLock(ctx context.Context, bucket string) (store.Lock, error) {
	enabled, mode, _, _, err := a.core.GetObjectLockConfig(ctx, bucket)
	lock := store.Lock{Enabled: enabled == "Enabled"}
	if mode != nil {
		lock.Default = string(*mode)
	}
	return lock, asError(err, nil)
}

func (a *Admin) Headers(ctx context.Context, ref store.Ref, decrypt bool) (http.Header, error) {
	opts := minio.StatObjectOptions{VersionID: ref.VersionID}
	if decrypt {
		opts.ServerSideEncryption = a.key
	}
	info, err := a.core.Client.StatObject(ctx, ref.Bucket, ref.Key, opts)
	return info.Metadata, asError(err, nil)
}

func (a *Admin) Read(ctx context.Context, ref store.Ref) ([]byte, error) {
	body, _, _, err := a.core.GetObject(ctx, ref.Bucket, ref.Key, minio.GetObjectOptions{})
	if err != nil {
		return nil, asError(err, nil)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, store.MaxSmall))
	if err != nil {
		return nil, asError(err, nil)
	}
	return data, answerCheck{admin: true}.check(document{}, http.StatusOK, http.MethodGet, data)
}

// Delete deletes the objects one by one if the store does not support batches.
func (a *Admin) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	err := a.Engine.Delete(ctx, refs, tr)
	if len(refs) > 1 && store.IsUnsupported(err) {
		return a.deleteEach(ctx, refs, false)
	}
	return err
}

// DeleteLocked does so as well if the store refuses the batch, because moto ignores the bypass there.
func (a *Admin) DeleteLocked(ctx context.Context, refs []store.Ref) error {
	err := a.deleteBatch(ctx, refs, minio.RemoveObjectsOptions{GovernanceBypass: true}, nil)
	if store.CodeOf(err) == store.CodeDenied || store.IsUnsupported(err) {
		return a.deleteEach(ctx, refs, true)
	}
	return err
}

func (a *Admin) deleteEach(ctx context.Context, refs []store.Ref, bypass bool) error {
	for _, ref := range refs {
		opts := minio.RemoveObjectOptions{VersionID: ref.VersionID, GovernanceBypass: bypass}
		if err := a.deleteOne(ctx, ref, opts, nil); err != nil && store.CodeOf(err) != store.CodeNoKey {
			return err
		}
	}
	return nil
}

func (a *Admin) Uploads(ctx context.Context, bucket, prefix string, each func(store.Upload) error) error {
	check := a.listCheck(prefix, false)
	return store.EachPage(func(at store.ListPlace) (end store.PageEnd, err error) {
		if err := check.Page(at.Key); err != nil {
			return end, err
		}
		page, err := a.uploadsAt(ctx, bucket, prefix, at)
		if err != nil {
			return end, err
		}
		for _, u := range page.Uploads {
			if err := check.Below(u.Key); err != nil {
				return end, err
			}
			if err := each(store.Upload{Ref: store.Ref{Bucket: bucket, Key: u.Key}, ID: u.UploadID}); err != nil {
				return end, err
			}
		}
		next := store.ListPlace{Key: page.NextKeyMarker, Version: page.NextUploadIDMarker}
		return store.PageEnd{Found: len(page.Uploads), More: page.IsTruncated, Next: next}, nil
	})
}

// uploadsAt asks for a page of uploads. versitygw rejects its own upload-id-marker. The page then
// starts after the key, which omits any further uploads of that key.
func (a *Admin) uploadsAt(ctx context.Context, bucket, prefix string, place store.ListPlace) (minio.ListMultipartUploadsResult, error) {
	page, err := a.core.ListMultipartUploads(ctx, bucket, prefix, place.Key, place.Version, "", 0)
	if place.Version != "" && store.CodeOf(asError(err, nil)) == "InvalidArgument" {
		page, err = a.core.ListMultipartUploads(ctx, bucket, prefix, place.Key, "", "", 0)
	}
	if err != nil {
		return page, asError(err, nil)
	}
	return page, nil
}

// Parts lists all parts, because MinIO starts again at the first one if the marker is not a part.
func (a *Admin) Parts(ctx context.Context, u store.Upload, each func(store.Part) bool) error {
	for marker := 0; ; {
		page, err := a.core.ListObjectParts(ctx, u.Bucket, u.Key, u.ID, marker, 0)
		if err != nil {
			return asError(err, nil)
		}
		for _, p := range page.ObjectParts {
			if !each(store.Part{Number: p.PartNumber, ETag: strings.Trim(p.ETag, `"`), Size: p.Size}) {
				return nil
			}
		}
		if !page.IsTruncated {
			return nil
		}
		if page.NextPartNumberMarker <= marker {
			return store.BadAnswer(http.StatusOK, "the listing of parts continues where it has already been: %d", marker)
		}
		marker = page.NextPartNumberMarker
	}
}
