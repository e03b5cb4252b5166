package engines

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/gcs"
	"warp/pkg/store/minio"
)

// gcsProvider is Google Cloud Storage. With a pair of HMAC keys it is S3 without some functions.
func gcsProvider() Provider {
	const notS3 = "leave it out, or use the S3 interface with --provider=s3 and a pair of HMAC keys"
	return Provider{
		Name: "gcs", Title: "Google Cloud Storage", Scheme: "gs", Host: "https://storage.googleapis.com",
		BucketName: lettersOf("-_.", "Google Cloud Storage"),
		Serves:     gcs.Serves, TLS: true,
		HostFromEnv: hostIn("STORAGE_EMULATOR_HOST"),
		Identify:    identifyGCS,
		Accepts:     "--access-token, --credentials-file, or a pair of keys",
		Portable:    gcs.Portable,
		Lacks: map[Feature]string{
			ObjectLock: "", Tags: "", Appends: "", ZIPFiles: "", Unpacking: "", FanOuts: "", Forms: "", ListMetadata: "", Profiles: "",
			StoreKeys:    "leave it out: it encrypts everything that is uploaded",
			CustomerKeys: "", PartCopies: "", MinioEngine: notS3,
			HostBuckets: notS3, Signatures: notS3, HTTP2: "leave it out",
		},
		Checksums: []store.Checksum{store.ChecksumCRC32C},
		open:      openGCS,
	}
}

// identifyGCS uses a pair of HMAC keys, or else tokens.
func identifyGCS(ctx context.Context, id Identity, cfg *store.Config) (source string, secrets []string, err error) {
	source = "flags or WARP_* variables"
	named := id.Token != "" || id.File != "" || id.Metadata || id.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != ""
	if google := id.Getenv("AWS_ACCESS_KEY_ID"); id.Access == "" && !named && strings.HasPrefix(google, "GOOG") {
		id.Access, id.Secret, source = google, id.Getenv("AWS_SECRET_ACCESS_KEY"), "the AWS environment"
	}
	if id.Access != "" {
		cfg.Credentials = store.Keys{AccessKey: id.Access, SecretKey: id.Secret}
		return source, []string{id.Secret}, nil
	}
	cfg.Credentials = store.Keys{}
	return gcs.Identify(ctx, gcs.Identity{Token: id.Token, File: id.File, Metadata: id.Metadata, Home: id.Home, Getenv: id.Getenv}, cfg)
}

// openGCS opens the JSON API or, with HMAC keys, the S3 interface.
func openGCS(cfg *store.Config) (o opened, err error) {
	if !signsByKeys(cfg) {
		o.driver, err = gcs.Open(cfg)
		return o, err
	}
	return openInteroperable(cfg)
}

func signsByKeys(cfg *store.Config) bool {
	if cfg.Credentials == nil || cfg.Bearer.Given() {
		return false
	}
	keys, err := cfg.Credentials.Keys(context.Background())
	return err == nil && !keys.Anonymous()
}

// openInteroperable opens the S3 interface. It does not accept payload in signed chunks.
func openInteroperable(cfg *store.Config) (o opened, err error) {
	if cfg.Encryption.Kind == store.SSEKMS {
		return o, errors.New("with HMAC keys Google Cloud Storage takes no key of its key service: use a token or --credentials-file")
	}
	cfg.UnsignedPayload = true
	if o, err = openS3(cfg); err != nil {
		return o, err
	}
	engine := o.driver.Engine
	o.driver.Engine = func(cfg *store.Config, a store.Address, n *store.Counters) (store.Engine, error) {
		e, err := engine(cfg, a, n)
		if err != nil {
			return nil, err
		}
		return singleDeletes{e.(complete)}, nil
	}
	o.driver.Admin = func(cfg *store.Config, a store.Address) (store.Admin, error) {
		admin, err := minio.NewAdmin(cfg, a)
		return interoperableAdmin{admin}, err
	}
	return o, nil
}

// singleDeletes is an engine for an S3 store that cannot delete several objects with one request.
// It deletes them one by one.
type singleDeletes struct{ complete }

// The interface has conditions on generations, but none on the ETags that S3 uses.

func (s singleDeletes) Put(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	if p.If.Given() {
		return store.Object{}, store.ErrUnsupported
	}
	return s.complete.Put(ctx, p, tr)
}

func (s singleDeletes) CompleteUpload(ctx context.Context, u store.Upload, parts []store.Part, tr *store.Trace) (store.Object, error) {
	if u.If.Given() {
		return store.Object{}, store.ErrUnsupported
	}
	return s.complete.CompleteUpload(ctx, u, parts, tr)
}

func (s singleDeletes) DeleteIf(ctx context.Context, ref store.Ref, c store.Condition, tr *store.Trace) error {
	if c.Given() {
		return store.ErrUnsupported
	}
	return s.Delete(ctx, []store.Ref{ref}, tr)
}

func (s singleDeletes) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	return deleteEach(ctx, s.complete, refs, tr)
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
		if errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == "NoSuchKey" {
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
