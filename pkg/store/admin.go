package store

import (
	"context"
	"io"
	"net/http"
)

// An Admin does the bookkeeping of a run on one host: buckets, markers and clean-up. It is never
// measured. Every error is an [*Error]. Deleting an object that does not exist succeeds, because
// clean-up may delete it twice.
//
// The interfaces below are for what only some stores have. [Client] has the defaults for the others.
type Admin interface {
	Engine

	BucketExists(ctx context.Context, bucket string) (bool, error)
	// MakeBucket creates a bucket and marks it for MadeByWarp.
	MakeBucket(ctx context.Context, bucket string) error
	MadeByWarp(ctx context.Context, bucket string) bool
	// Headers returns an object's headers. If decrypt is set, the request carries the client's key.
	Headers(ctx context.Context, ref Ref, decrypt bool) (http.Header, error)
}

// A Locator is an [Admin] of a store whose buckets are in regions.
type Locator interface {
	// Region returns the region of the bucket, or "" if the store does not say.
	Region(ctx context.Context, bucket string) (string, error)
}

// A Versioner is an [Admin] of a store that can keep versions of objects.
type Versioner interface {
	// Versioning returns Enabled, Suspended, or "" for a bucket that never had it.
	Versioning(ctx context.Context, bucket string) (string, error)
	SetVersioning(ctx context.Context, bucket string, on bool) error
}

// A Locker is an [Admin] of a store with object lock.
type Locker interface {
	// MakeLockedBucket is [Admin.MakeBucket] for a bucket with object lock.
	MakeLockedBucket(ctx context.Context, bucket string) error
	ObjectLock(ctx context.Context, bucket string) (Lock, error)
	// DeleteLocked deletes versions that a retention in governance mode protects.
	DeleteLocked(ctx context.Context, refs []Ref) error
}

// A Reader is an [Admin] with a way of its own to read small objects.
type Reader interface {
	// Read returns the content of a small object.
	Read(ctx context.Context, ref Ref) ([]byte, error)
}

// An UploadLister is an [Admin] of a store that lists incomplete multipart uploads.
type UploadLister interface {
	// Uploads calls each for every incomplete upload under prefix, until it fails.
	Uploads(ctx context.Context, bucket, prefix string, each func(Upload) error) error
	// Parts calls each for every part of an upload, until it returns false.
	Parts(ctx context.Context, u Upload, each func(Part) bool) error
}

// A FolderRemover is an [Admin] of a store that keeps directories after their last object is gone.
type FolderRemover interface {
	// RemoveFolders removes the directory of prefix and the directories below it, unless they
	// contain objects.
	RemoveFolders(ctx context.Context, bucket, prefix string) error
}

// An UnsortedLister is an [Admin] of a store that lists objects in no order.
type UnsortedLister interface {
	ListsUnsorted()
}

// A Profiler is an [Admin] of a store that can profile itself.
type Profiler interface {
	// StartProfiles starts profiles of the given kinds on all nodes. It fails with [ErrUnsupported]
	// if the store cannot profile itself.
	StartProfiles(ctx context.Context, kinds []string) error
	// Profiles stops the profiles and returns them as a ZIP.
	Profiles(ctx context.Context) (io.ReadCloser, error)
}
