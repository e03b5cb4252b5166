package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/minio/minio-go/v7/pkg/tags"
)

// ownTag marks a bucket that warp made. Where a store has no bucket tags the
// mark is lost, and warp treats the bucket as somebody else's: the safe side.
const ownTag = "created-by"

// BucketExists asks the store whether bucket is there.
func (c *Client) BucketExists(ctx context.Context, bucket string) (exists bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		exists, err = h.desk.core.Client.BucketExists(ctx, bucket)
		return err
	})
	return exists, err
}

// askRegion asks the store where bucket is.
func (c *Client) askRegion(ctx context.Context, bucket string) (region string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		region, err = h.desk.core.Client.GetBucketLocation(ctx, bucket)
		return err
	})
	return region, err
}

// MakeBucket creates bucket, with object lock or without, and marks it as made
// by warp.
func (c *Client) MakeBucket(ctx context.Context, bucket string, lock bool) error {
	return c.anyHost(ctx, func(h *Host) error {
		err := h.desk.core.Client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: c.region, ObjectLocking: lock})
		if err != nil {
			return err
		}
		mark, err := tags.MapToBucketTags(map[string]string{ownTag: "warp"})
		if err == nil {
			_ = h.desk.core.Client.SetBucketTagging(ctx, bucket, mark) // see ownTag
		}
		return nil
	})
}

// HeadersOf are what the store shows of an object beside its payload.
func (c *Client) HeadersOf(ctx context.Context, ref Ref) (all http.Header, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		info, err := h.desk.core.Client.StatObject(ctx, ref.Bucket, ref.Key, minio.StatObjectOptions{VersionID: ref.VersionID, ServerSideEncryption: c.sse})
		all = info.Metadata
		return err
	})
	return all, err
}

// MadeByWarp says whether warp created bucket.
func (c *Client) MadeByWarp(ctx context.Context, bucket string) bool {
	made := false
	_ = c.anyHost(ctx, func(h *Host) error {
		t, err := h.desk.core.Client.GetBucketTagging(ctx, bucket)
		made = err == nil && t.ToMap()[ownTag] == "warp"
		return nil
	})
	return made
}

// Versioning returns Enabled, Suspended, or "" for a bucket that never had it.
// A store that does not know the question has no versions.
func (c *Client) Versioning(ctx context.Context, bucket string) (state string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		v, err := h.desk.core.Client.GetBucketVersioning(ctx, bucket)
		state = v.Status
		if unknownToStore(err) {
			return nil
		}
		return err
	})
	return state, err
}

// SetVersioning turns versioning of bucket on, or suspends it.
func (c *Client) SetVersioning(ctx context.Context, bucket string, on bool) error {
	return c.anyHost(ctx, func(h *Host) error {
		if on {
			return h.desk.core.Client.EnableVersioning(ctx, bucket)
		}
		return h.desk.core.Client.SuspendVersioning(ctx, bucket)
	})
}

// A Lock is what a bucket's object lock is set to.
type Lock struct {
	Enabled bool
	Default string // the mode that every upload is locked in; "" = none is
}

// ObjectLock asks for the object lock of bucket. A store that does not know
// the question has none.
func (c *Client) ObjectLock(ctx context.Context, bucket string) (lock Lock, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		enabled, mode, _, _, err := h.desk.core.Client.GetObjectLockConfig(ctx, bucket)
		lock = Lock{Enabled: enabled == "Enabled"}
		if mode != nil {
			lock.Default = string(*mode)
		}
		if e, ok := asError(err, nil).(*Error); ok && e.Status == 404 && e.Code != "NoSuchBucket" || unknownToStore(err) {
			return nil
		}
		return err
	})
	return lock, err
}

// WriteSmall stores a small object. late says that one of the attempts had no
// answer, so that it may be stored after whatever follows.
func (c *Client) WriteSmall(ctx context.Context, ref Ref, data []byte) (late bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		put := Put{Ref: ref, Body: bytes.NewReader(data), Size: int64(len(data)), ContentType: "application/json"}
		_, err := h.desk.Put(ctx, put, NewTrace(time.Now()))
		late = late || unanswered(err)
		return err
	})
	return late, err
}

// ModifiedAt is when an object was written, by the store's clock.
func (c *Client) ModifiedAt(ctx context.Context, ref Ref) (modified time.Time, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		o, err := h.desk.Stat(ctx, ref, NewTrace(time.Now()))
		modified = o.LastModified
		return err
	})
	return modified, err
}

// maxSmall is more than anything that is read whole: a foreign object under a marker's name must not fill the memory.
const maxSmall = 1 << 20

// ReadSmall returns the content of a small object.
func (c *Client) ReadSmall(ctx context.Context, ref Ref) (data []byte, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		body, _, _, err := h.desk.core.GetObject(ctx, ref.Bucket, ref.Key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		if data, err = io.ReadAll(io.LimitReader(body, maxSmall)); err != nil {
			return err
		}
		return answerCheck{desk: true}.check(document{}, http.StatusOK, http.MethodGet, data)
	})
	return data, err
}

// List lists through whichever host answers. It may have to start again, and
// calls begin each time that it does.
func (c *Client) List(ctx context.Context, l List, begin func(), each func(Object) bool) error {
	return c.anyHost(ctx, func(h *Host) error {
		begin()
		check := newListCheck(l.Bucket, l.Prefix, l.Versions)
		var wrong error
		err := h.desk.List(ctx, l, func(o Object) bool {
			skip, err := check.entry(&o)
			if wrong = err; wrong != nil {
				return false
			}
			return skip || each(o)
		}, NewTrace(time.Now()))
		return cmp.Or(wrong, err)
	})
}

// Delete removes refs through whichever host answers.
func (c *Client) Delete(ctx context.Context, refs []Ref) error {
	return c.anyHost(ctx, func(h *Host) error { return h.desk.Delete(ctx, refs, NewTrace(time.Now())) })
}

// DeleteLocked is Delete for versions that a retention in governance mode
// protects. It needs the right to bypass that.
func (c *Client) DeleteLocked(ctx context.Context, refs []Ref) error {
	return c.anyHost(ctx, func(h *Host) error {
		return h.desk.deleteBatch(ctx, refs, minio.RemoveObjectsOptions{GovernanceBypass: true}, NewTrace(time.Now()))
	})
}

// AbortUpload ends one upload in parts, which may be over already.
func (c *Client) AbortUpload(ctx context.Context, u Upload) error {
	err := c.anyHost(ctx, func(h *Host) error { return h.desk.AbortUpload(ctx, u, NewTrace(time.Now())) })
	if CodeOf(err) == "NoSuchUpload" {
		return nil
	}
	return err
}

// Metadata returns one entry of an object's user metadata, "" where it has none
// of that name. It has the key of objects that this client has encrypted.
func (c *Client) Metadata(ctx context.Context, ref Ref, name string) (value string, err error) {
	stat := func(key encrypt.ServerSide) error {
		return c.anyHost(ctx, func(h *Host) error {
			info, err := h.desk.core.Client.StatObject(ctx, ref.Bucket, ref.Key, minio.StatObjectOptions{VersionID: ref.VersionID, ServerSideEncryption: key})
			value = info.Metadata.Get("X-Amz-Meta-" + name)
			return err
		})
	}
	if err = stat(nil); c.sse != nil && Sealed(err) {
		err = stat(c.sse)
	}
	return value, err
}

// Sealed says whether a question about an object failed as it does where the object is encrypted under a key that the
// store has to be shown.
func Sealed(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusForbidden)
}

// Tag returns one of an object's tags, "" where it has none of that name. Tags can be read without the object's key.
func (c *Client) Tag(ctx context.Context, ref Ref, name string) (value string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		all, err := h.desk.Tags(ctx, ref, NewTrace(time.Now()))
		value = all[name]
		return err
	})
	if unknownToStore(err) || CodeOf(err) == "NoSuchTagSet" {
		return "", nil
	}
	return value, err
}

// UploadsOf returns the ids of the uploads in parts of exactly that name which were not completed.
func (c *Client) UploadsOf(ctx context.Context, bucket, key string) (ids []string, err error) {
	err = c.eachUpload(ctx, bucket, key, func(_ *Host, u Upload) error {
		if u.Key == key && !slices.Contains(ids, u.ID) {
			ids = append(ids, u.ID)
		}
		return nil
	})
	return ids, err
}

// MaxPart is the highest number of a part.
const MaxPart = 10000

// LastPart returns the part of the highest number that an upload can have; false where it has none. It looks at all parts:
// MinIO begins with the first one where the marker is no part.
func (c *Client) LastPart(ctx context.Context, u Upload) (part Part, ok bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		for marker := 0; ; {
			page, err := h.desk.core.ListObjectParts(ctx, u.Bucket, u.Key, u.ID, marker, 0)
			if err != nil {
				return err
			}
			for _, p := range page.ObjectParts {
				if p.PartNumber == MaxPart {
					part, ok = Part{Number: p.PartNumber, ETag: strings.Trim(p.ETag, `"`), Size: p.Size}, true
					return nil
				}
			}
			if !page.IsTruncated {
				return nil
			}
			if page.NextPartNumberMarker <= marker {
				return badAnswer(http.StatusOK, "the listing of parts goes on where it has been: %d", marker)
			}
			marker = page.NextPartNumberMarker
		}
	})
	return part, ok, err
}

// AbortUploads ends the multipart uploads under prefix that were never
// completed and whose names are ours.
func (c *Client) AbortUploads(ctx context.Context, bucket, prefix string, ours func(key string) bool) error {
	return c.eachUpload(ctx, bucket, prefix, func(h *Host, u Upload) error {
		if !ours(u.Key) {
			return nil
		}
		err := h.desk.AbortUpload(ctx, u, NewTrace(time.Now()))
		if CodeOf(err) == "NoSuchUpload" {
			return nil
		}
		return err
	})
}

// eachUpload calls do for every upload under prefix that was not completed. It may have to start again. A store that
// does not know the question has none.
func (c *Client) eachUpload(ctx context.Context, bucket, prefix string, do func(*Host, Upload) error) error {
	return c.anyHost(ctx, func(h *Host) error {
		check := newListCheck(bucket, prefix, false)
		var track listTrack
		for {
			place := track.place
			page, err := h.desk.core.ListMultipartUploads(ctx, bucket, prefix, place.key, place.version, "", 0)
			if unknownToStore(err) {
				return nil
			}
			if err != nil {
				return err
			}
			for _, u := range page.Uploads {
				if err := check.below(u.Key); err != nil {
					return err
				}
				if err := do(h, Upload{Ref: Ref{Bucket: bucket, Key: u.Key}, ID: u.UploadID}); err != nil {
					return err
				}
			}
			if !page.IsTruncated {
				return nil
			}
			if track.empty++; len(page.Uploads) > 0 {
				track.empty = 0
			}
			next := listPlace{key: page.NextKeyMarker, version: page.NextUploadIDMarker}
			if err := cmp.Or(track.goOn(next, http.StatusOK), check.page(next.key)); err != nil {
				return err
			}
		}
	})
}

// unknownToStore says whether err means that the store lacks the function.
func unknownToStore(err error) bool {
	e, ok := asError(err, nil).(*Error)
	if !ok {
		return false
	}
	return e.Status == 405 || e.Status == 501 || e.Status >= 400 && e.Code == "NotImplemented"
}
