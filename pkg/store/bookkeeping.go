package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// BucketExists reports whether bucket exists.
func (c *Client) BucketExists(ctx context.Context, bucket string) (exists bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		exists, err = h.admin.BucketExists(ctx, bucket)
		return err
	})
	return exists, err
}

// Region returns the region of bucket, or "" if the store does not say.
func (c *Client) Region(ctx context.Context, bucket string) (region string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		if l, ok := h.admin.(Locator); ok {
			region, err = l.Region(ctx, bucket)
		}
		return err
	})
	return region, err
}

// MakeBucket creates bucket, with or without object lock, and marks it as made by warp.
func (c *Client) MakeBucket(ctx context.Context, bucket string, lock bool) error {
	return c.anyHost(ctx, func(h *Host) error {
		locker, ok := h.admin.(Locker)
		switch {
		case !lock:
			return h.admin.MakeBucket(ctx, bucket)
		case !ok:
			return lacks("S3 object lock")
		}
		return locker.MakeLockedBucket(ctx, bucket)
	})
}

// lacks returns the error for a function that the store does not have.
func lacks(what string) error { return Errorf("NotImplemented", 0, "this store has no %s", what) }

// HeadersOf returns an object's headers.
func (c *Client) HeadersOf(ctx context.Context, ref Ref) (all http.Header, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		all, err = h.admin.Headers(ctx, ref, true)
		return err
	})
	return all, err
}

// MadeByWarp reports whether warp created bucket.
func (c *Client) MadeByWarp(ctx context.Context, bucket string) bool {
	made := false
	_ = c.anyHost(ctx, func(h *Host) error {
		made = h.admin.MadeByWarp(ctx, bucket)
		return nil
	})
	return made
}

// VersioningUnknown is the versioning of a bucket for which the store does not answer the question.
const VersioningUnknown = "Unknown"

// Versioning returns Enabled, Suspended, VersioningUnknown, or "" for a bucket that never had it. A
// store that does not support versioning has no versions.
func (c *Client) Versioning(ctx context.Context, bucket string) (state string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		v, ok := h.admin.(Versioner)
		if !ok {
			return nil
		}
		state, err = v.Versioning(ctx, bucket)
		var e *Error
		switch {
		case errors.As(err, &e) && (e.Document != "" || e.Status == 404 && e.Code != CodeNoBucket):
			state = VersioningUnknown
			return nil
		case IsUnsupported(err):
			return nil
		}
		return err
	})
	return state, err
}

// ListsVersions reports whether the store lists the versions of a bucket. Some ignore the parameter
// and list objects instead, which then have no versions.
func (c *Client) ListsVersions(ctx context.Context, bucket string) (bool, error) {
	list := List{Bucket: bucket, Versions: true, MaxKeys: 1}
	err := c.List(ctx, list, func() {}, func(Object) bool { return false })
	var e *Error
	if errors.As(err, &e) && e.ignoresParameter() {
		return false, nil
	}
	return err == nil, err
}

// SetVersioning enables or suspends versioning of bucket.
func (c *Client) SetVersioning(ctx context.Context, bucket string, on bool) error {
	return c.anyHost(ctx, func(h *Host) error {
		if v, ok := h.admin.(Versioner); ok {
			return v.SetVersioning(ctx, bucket, on)
		}
		return lacks("versions of objects")
	})
}

// A Lock is the object lock of a bucket.
type Lock struct {
	Enabled bool
	Default string // the mode that the bucket sets for every upload; "" = none
}

// ObjectLock returns the object lock of bucket. A store that does not support locks has none.
func (c *Client) ObjectLock(ctx context.Context, bucket string) (lock Lock, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		locker, ok := h.admin.(Locker)
		if !ok {
			return nil
		}
		lock, err = locker.ObjectLock(ctx, bucket)
		var e *Error
		noLock := errors.As(err, &e) && (e.Status == 404 && e.Code != CodeNoBucket || e.Status == 400 && e.Code == "InvalidRequest")
		if noLock || IsUnsupported(err) {
			return nil
		}
		return err
	})
	return lock, err
}

// WriteSmall stores a small object. It returns late if one of the attempts had no answer: the store
// may still carry it out, after any later request.
func (c *Client) WriteSmall(ctx context.Context, ref Ref, data []byte) (late bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		put := Put{Ref: ref, Body: bytes.NewReader(data), Size: int64(len(data)), ContentType: "application/json"}
		_, err := h.admin.Put(ctx, put, NewTrace(time.Now()))
		late = late || unanswered(err)
		return err
	})
	return late, err
}

// ModifiedAt returns when an object was written, by the store's clock.
func (c *Client) ModifiedAt(ctx context.Context, ref Ref) (modified time.Time, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		o, err := h.admin.Stat(ctx, ref, NewTrace(time.Now()))
		modified = o.LastModified
		return err
	})
	if err != nil || !modified.IsZero() {
		return modified, err
	}
	// Without a Last-Modified header, a listing may say it.
	err = c.List(ctx, List{Bucket: ref.Bucket, Prefix: ref.Key}, func() {}, func(o Object) bool {
		if o.Key == ref.Key {
			modified = o.LastModified
		}
		return o.Key != ref.Key
	})
	if err == nil && modified.IsZero() {
		err = BadAnswer(http.StatusOK, "the store does not say when it wrote %s", ref.Key)
	}
	return modified, err
}

// ReadSmall returns the content of a small object.
func (c *Client) ReadSmall(ctx context.Context, ref Ref) (data []byte, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		if r, ok := h.admin.(Reader); ok {
			data, err = r.Read(ctx, ref)
		} else {
			data, err = readSmall(ctx, h.admin, ref)
		}
		return err
	})
	return data, err
}

// MaxSmall is larger than any object that is read whole. A foreign object under a marker's name must
// not fill the memory.
const MaxSmall = 1 << 20

// readSmall downloads up to MaxSmall bytes of an object.
func readSmall(ctx context.Context, e Engine, ref Ref) ([]byte, error) {
	var into smallWriter
	_, err := e.Get(ctx, Get{Ref: ref, Into: &into}, NewTrace(time.Now()))
	if len(into.data) == MaxSmall {
		err = nil // the rest is not needed
	}
	return into.data, err
}

// A smallWriter keeps up to MaxSmall bytes, and then ends the download.
type smallWriter struct{ data []byte }

func (s *smallWriter) Write(p []byte) (int, error) {
	n := min(len(p), MaxSmall-len(s.data))
	s.data = append(s.data, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// List lists through any host that answers. It may have to start again, and then calls begin again.
// It checks each entry, because clean-up deletes what it returns.
func (c *Client) List(ctx context.Context, l List, begin func(), each func(Object) bool) error {
	ctx, watch := c.watchListing(ctx, l.Bucket, l.Prefix)
	watched := func(o Object) (more bool) {
		watch.entry(func() { more = each(o) })
		return more
	}
	return watch.end(c.anyHost(ctx, func(h *Host) error {
		begin()
		check := NewListCheck(l.Prefix, l.Versions)
		if _, unsorted := h.admin.(UnsortedLister); unsorted {
			check.Unordered()
		}
		return check.Each(watched, func(each func(Object) bool) error {
			return h.admin.List(ctx, l, each, NewTrace(time.Now()))
		})
	}))
}

// ListsSorted reports whether List returns objects in the order of their keys.
func (c *Client) ListsSorted() bool {
	return !slices.ContainsFunc(c.hosts, func(h *Host) bool {
		_, unsorted := h.admin.(UnsortedLister)
		return unsorted
	})
}

// Delete deletes refs through any host that answers.
func (c *Client) Delete(ctx context.Context, refs []Ref) error {
	return c.anyHost(ctx, func(h *Host) error { return h.admin.Delete(ctx, refs, NewTrace(time.Now())) })
}

// RemoveFolders removes the directory of prefix and the directories below it, unless they contain
// objects. Most stores have no directories.
func (c *Client) RemoveFolders(ctx context.Context, bucket, prefix string) error {
	return c.anyHost(ctx, func(h *Host) error {
		if f, ok := h.admin.(FolderRemover); ok {
			return f.RemoveFolders(ctx, bucket, prefix)
		}
		return nil
	})
}

// DeleteLocked is Delete for versions that a retention in governance mode protects. It needs the
// permission to bypass the retention.
func (c *Client) DeleteLocked(ctx context.Context, refs []Ref) error {
	return c.anyHost(ctx, func(h *Host) error {
		if l, ok := h.admin.(Locker); ok {
			return l.DeleteLocked(ctx, refs)
		}
		return h.admin.Delete(ctx, refs, NewTrace(time.Now()))
	})
}

// AbortUpload aborts one multipart upload. It succeeds if the upload is already over.
func (c *Client) AbortUpload(ctx context.Context, u Upload) error {
	err := c.anyHost(ctx, func(h *Host) error { return h.abort(ctx, u) })
	if CodeOf(err) == CodeNoUpload {
		return nil
	}
	return err
}

// abort aborts a multipart upload.
func (h *Host) abort(ctx context.Context, u Upload) error {
	if m, ok := h.admin.(Multipart); ok {
		return m.AbortUpload(ctx, u, NewTrace(time.Now()))
	}
	return ErrUnsupported
}

// Metadata returns one entry of an object's user metadata, or "" if the object has no such entry.
// It can read objects that this client has encrypted.
func (c *Client) Metadata(ctx context.Context, ref Ref, name string) (value string, err error) {
	headers := func(decrypt bool) error {
		return c.anyHost(ctx, func(h *Host) error {
			all, err := h.admin.Headers(ctx, ref, decrypt)
			value = all.Get("X-Amz-Meta-" + name)
			return err
		})
	}
	if err = headers(false); c.options.Encryption.Kind == SSEC && Sealed(err) {
		err = headers(true)
	}
	return value, err
}

// Sealed reports whether err means that the object is encrypted with a key that the request did not
// carry.
func Sealed(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusBadRequest || e.Status == http.StatusForbidden)
}

// Tag returns one of an object's tags, or "" if the object has no such tag. Reading tags does not
// need the object's key.
func (c *Client) Tag(ctx context.Context, ref Ref, name string) (value string, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		tagger, ok := h.admin.(Tagger)
		if !ok {
			return lacks("tags of objects")
		}
		all, err := tagger.Tags(ctx, ref, NewTrace(time.Now()))
		value = all[name]
		return err
	})
	if IsUnsupported(err) || CodeOf(err) == "NoSuchTagSet" {
		return "", nil
	}
	return value, err
}

// UploadsOf returns the ids of the incomplete multipart uploads of exactly that name. If there is
// more than a page of them, it may return only some.
func (c *Client) UploadsOf(ctx context.Context, bucket, key string) (ids []string, err error) {
	err = c.eachUpload(ctx, bucket, key, func(_ *Host, u Upload) error {
		if u.Key == key && !slices.Contains(ids, u.ID) {
			ids = append(ids, u.ID)
		}
		return nil
	})
	if IsUnsupported(err) {
		return nil, nil
	}
	return ids, err
}

// MaxPart is the highest part number.
const MaxPart = 10000

// LastPart returns the part with the highest number. It returns false if the upload has no parts.
func (c *Client) LastPart(ctx context.Context, u Upload) (part Part, ok bool, err error) {
	err = c.anyHost(ctx, func(h *Host) error {
		lister, can := h.admin.(UploadLister)
		if !can {
			return nil
		}
		return lister.Parts(ctx, u, func(p Part) bool {
			if ok = p.Number == MaxPart; ok {
				part = p
			}
			return !ok
		})
	})
	return part, ok, err
}

// AbortUploads aborts the incomplete multipart uploads under prefix whose names are ours. It lists
// them again until it finds no new one, because a listing may skip entries while others disappear.
// A store that does not list uploads returns an error for which [IsUnsupported] reports true.
func (c *Client) AbortUploads(ctx context.Context, bucket, prefix string, ours func(key string) bool) error {
	aborted := map[string]bool{}
	for {
		before := len(aborted)
		err := c.eachUpload(ctx, bucket, prefix, func(h *Host, u Upload) error {
			if !ours(u.Key) || aborted[u.ID] {
				return nil
			}
			err := h.abort(ctx, u)
			if err == nil {
				aborted[u.ID] = true
			}
			if CodeOf(err) == CodeNoUpload {
				return nil
			}
			return err
		})
		if err != nil || len(aborted) == before {
			return err
		}
	}
}

// eachUpload calls do for every incomplete upload under prefix. It may have to start again.
func (c *Client) eachUpload(ctx context.Context, bucket, prefix string, do func(*Host, Upload) error) error {
	ctx, watch := c.watchListing(ctx, bucket, prefix)
	return watch.end(c.anyHost(ctx, func(h *Host) error {
		lister, ok := h.admin.(UploadLister)
		if !ok {
			return nil
		}
		return lister.Uploads(ctx, bucket, prefix, func(u Upload) (err error) {
			watch.entry(func() { err = do(h, u) })
			return err
		})
	}))
}

// UploadFile uploads a file, in parts if it is large. It is never measured.
func (c *Client) UploadFile(ctx context.Context, ref Ref, path, contentType string) error {
	file, err := os.Open(path)
	if err != nil {
		return AsError(err, 0)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return AsError(err, 0)
	}
	return c.anyHost(ctx, func(h *Host) error {
		_, err := h.admin.Put(ctx, Put{Ref: ref, Body: file, Size: info.Size(), ContentType: contentType}, NewTrace(time.Now()))
		return err
	})
}
