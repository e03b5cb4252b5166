package minio

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"warp/pkg/store"
	"warp/pkg/store/s3"
)

// An express contains the host of each directory bucket and the keys of its session.
type express struct {
	host     string // the zonal endpoint
	region   string
	sessions *s3.Sessions
}

// placeholder is the host that minio-go gets in place of a host of Amazon's. With such a host,
// minio-go would handle directory buckets by itself, in a different way.
const placeholder = "directory-buckets.invalid"

// controlKey marks requests that make buckets, which go to another host at Amazon.
type controlKey struct{}

// address moves the name of the bucket into the host name, if the host is Amazon's.
func (e *express) address(req *http.Request, to *url.URL) {
	switch bucket, key := bucketOf(req.URL); {
	case !s3.IsAWS(e.host):
	case req.Context().Value(controlKey{}) != nil:
		to.Host = s3.ControlHost(e.host)
	default:
		to.Host, to.Path = bucket+"."+e.host, "/"+key
	}
}

// bucketOf splits the path of a request made by minio-go.
func bucketOf(u *url.URL) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return bucket, key
}

// ofUser reports whether a request is signed with the user's keys. At a zonal endpoint, these are
// copies, checks for the bucket, and the creation of the session. All others use the keys of the
// session.
func ofUser(req *http.Request) bool {
	_, key := bucketOf(req.URL)
	return key == "" && req.Method == http.MethodHead || req.Header.Get("X-Amz-Copy-Source") != "" || req.URL.Query().Has("session") ||
		req.Context().Value(controlKey{}) != nil
}

// answered checks whether the session of a request may be over.
func (e *express) answered(req *http.Request, status int) {
	if (status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden) && !ofUser(req) {
		bucket, _ := bucketOf(req.URL)
		e.sessions.Doubt(bucket)
	}
}

// signExpress signs again, a copy of req for another address, for the service of directory buckets.
// It does not sign the payload of chunks, which always travel over TLS.
func (w *wire) signExpress(req, again *http.Request) (*http.Request, error) {
	trailer := w.unsign(again)
	switch hash := again.Header.Get("X-Amz-Content-Sha256"); {
	case trailer != nil:
		again.Header.Set("X-Amz-Content-Sha256", s3.UnsignedTrailer)
	case strings.HasPrefix(hash, "STREAMING-"):
		again.Header.Set("X-Amz-Content-Sha256", s3.UnsignedPayload)
	}
	var keys store.Keys
	var err error
	if bucket, _ := bucketOf(req.URL); !ofUser(req) {
		keys, err = w.express.sessions.Keys(req.Context(), bucket)
	} else if w.creds != nil {
		keys, err = w.creds.Keys(req.Context())
	}
	switch {
	case err != nil:
		return nil, err
	case keys.Anonymous() || keys.Signature == s3.SignV2:
		return nil, store.Errorf("AccessDenied", 0, "directory buckets accept only requests signed with V4")
	}
	token := keys.SessionToken
	if keys.Signature == s3.SignExpress {
		again.Header.Set(s3.SessionToken, token)
		token = ""
	}
	return signer.SignV4TrailerExpress(*again, keys.AccessKey, keys.SecretKey, token, w.express.region, trailer), nil
}

// An ExpressAdmin does bookkeeping in directory buckets.
type ExpressAdmin struct {
	*Admin
	checked http.RoundTripper
}

// NewExpressAdmin returns an admin for the directory buckets of one host. It creates the sessions.
func NewExpressAdmin(cfg *store.Config, a store.Address, sessions *s3.Sessions) (*ExpressAdmin, error) {
	e, err := openAdmin(cfg, a, &express{a.Name, cfg.Region, sessions})
	if err != nil {
		return nil, err
	}
	checked := answerCheck{next: e.transport, total: store.AdminTimeout, admin: true}
	admin := &ExpressAdmin{&Admin{Engine: e, region: cfg.Region}, checked}
	sessions.Ask(admin.createSession)
	return admin, nil
}

// NewExpress returns an engine for directory buckets.
func NewExpress(cfg *store.Config, a store.Address, sessions *s3.Sessions, n *store.Counters) (*ExpressEngine, error) {
	e, err := openEngine(cfg, a, answerCheck{}, cfg.StallTimeout(), &express{a.Name, cfg.Region, sessions}, n)
	return &ExpressEngine{e}, err
}

// An ExpressEngine sends requests to directory buckets. It rejects those that directory buckets do
// not support.
type ExpressEngine struct{ *Engine }

// PutTags fails.
func (e *ExpressEngine) PutTags(context.Context, store.Ref, map[string]string, *store.Trace) error {
	return lacks("tags")
}

// Tags fails.
func (e *ExpressEngine) Tags(context.Context, store.Ref, *store.Trace) (map[string]string, error) {
	return nil, lacks("tags")
}

// DeleteTags fails.
func (e *ExpressEngine) DeleteTags(context.Context, store.Ref, *store.Trace) error {
	return lacks("tags")
}

// Retain fails.
func (e *ExpressEngine) Retain(context.Context, store.Ref, store.Retention, *store.Trace) error {
	return lacks("object lock")
}

// Post fails.
func (e *ExpressEngine) Post(context.Context, store.Put, *store.Trace) (store.Object, error) {
	return store.Object{}, lacks("uploads by a form")
}

// FanOut fails.
func (e *ExpressEngine) FanOut(context.Context, store.FanOut, *store.Trace) ([]store.Object, error) {
	return nil, lacks("fan-out uploads")
}

// request sends a request that minio-go does not support, and decodes the document in the answer.
func (a *ExpressAdmin) request(ctx context.Context, method, bucket, query string, header http.Header, body []byte, into any) (*http.Response, error) {
	u := *a.core.EndpointURL()
	u.Path, u.RawQuery = "/"+bucket+"/", query
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, asError(err, nil)
	}
	for name := range header {
		req.Header.Set(name, header.Get(name))
	}
	req.Header.Set("X-Amz-Content-Sha256", hexSHA256(body))
	req.Header.Set("User-Agent", a.agent)
	resp, err := a.checked.RoundTrip(req)
	if err != nil {
		return nil, asError(err, nil)
	}
	if resp.StatusCode/100 != 2 {
		return nil, refusal(resp)
	}
	defer drop(resp)
	if into == nil {
		return resp, nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err == nil {
		err = xml.Unmarshal(text, into)
	}
	if err != nil {
		return nil, store.BadAnswer(resp.StatusCode, "this store has no directory buckets: %s", store.OneLine(err.Error()))
	}
	return resp, nil
}

// longestSession is how long sessions last at Amazon.
const longestSession = 5 * time.Minute

// createSession asks the store for the keys of a session for a bucket.
func (a *ExpressAdmin) createSession(ctx context.Context, bucket string) (s s3.Session, err error) {
	ctx, cancel := store.WithLimit(ctx, store.AdminTimeout)
	defer cancel()
	var answer struct {
		XMLName     xml.Name `xml:"CreateSessionResult"`
		Credentials struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      time.Time
		}
	}
	header := http.Header{"X-Amz-Create-Session-Mode": {"ReadWrite"}}
	resp, err := a.request(ctx, http.MethodGet, bucket, "session=", header, nil, &answer)
	if err = store.LimitError(ctx, err, 0); err != nil {
		var said *store.Error
		if errors.As(err, &said) && !store.IsConnection(err) {
			err = store.Errorf(said.Code, said.Status, "create a session for directory bucket %s: %s", bucket, said.Message)
		}
		return s, err
	}
	c := &answer.Credentials
	s.Keys = store.Keys{AccessKey: c.AccessKeyID, SecretKey: c.SecretAccessKey, SessionToken: c.SessionToken, Signature: s3.SignExpress}
	if s.Keys.Anonymous() || c.SessionToken == "" {
		return s, store.BadAnswer(resp.StatusCode, "the session that the store gives has no keys")
	}
	s.Lasts = longestSession
	// Use the store's clock, which may differ.
	if now, err := http.ParseTime(resp.Header.Get("Date")); err == nil && !c.Expiration.IsZero() {
		s.Lasts = min(max(c.Expiration.Sub(now), 0), longestSession)
	}
	return s, nil
}

// lacks returns the error for functions that directory buckets do not have.
func lacks(what string) error {
	return store.Errorf("NotImplemented", 0, "directory buckets (S3 Express One Zone) have no %s", what)
}

// Region returns the region of the zone.
func (a *ExpressAdmin) Region(context.Context, string) (string, error) { return a.region, nil }

// MakeBucket makes a directory bucket in the zone that its name contains.
func (a *ExpressAdmin) MakeBucket(ctx context.Context, bucket string) error {
	zone, err := s3.Zone(bucket)
	if err != nil {
		return store.Errorf("InvalidBucketName", 0, "%v", err)
	}
	body := fmt.Sprintf(`<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Location><Name>%s</Name><Type>AvailabilityZone</Type></Location>`+
		`<Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket></CreateBucketConfiguration>`, zone)
	_, err = a.request(context.WithValue(ctx, controlKey{}, true), http.MethodPut, bucket, "", nil, []byte(body), nil)
	return err
}

// MakeLockedBucket fails.
func (a *ExpressAdmin) MakeLockedBucket(context.Context, string) error { return lacks("object lock") }

// MadeByWarp returns false, because directory buckets cannot carry a mark.
func (a *ExpressAdmin) MadeByWarp(context.Context, string) bool { return false }

// Versioning returns "", because directory buckets have no versioning.
func (a *ExpressAdmin) Versioning(context.Context, string) (string, error) { return "", nil }

// SetVersioning fails.
func (a *ExpressAdmin) SetVersioning(context.Context, string, bool) error { return lacks("versions") }

// ObjectLock returns none, because directory buckets have no object lock.
func (a *ExpressAdmin) ObjectLock(context.Context, string) (store.Lock, error) {
	return store.Lock{}, nil
}

// Tags fails, because objects in directory buckets have no tags.
func (a *ExpressAdmin) Tags(context.Context, store.Ref, *store.Trace) (map[string]string, error) {
	return nil, nil
}

// List lists whole directories, because the store lists nothing else, and filters the entries. An
// entry outside of the directory is an error.
func (a *ExpressAdmin) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	prefix := l.Prefix
	if l.Prefix = s3.ListPrefix(prefix); l.Prefix != prefix {
		l.MaxKeys = 0
	}
	wanted := func(o store.Object) bool { return !strings.HasPrefix(o.Key, prefix) || each(o) }
	return a.listCheck(l.Prefix, l.Versions).Each(wanted, func(each func(store.Object) bool) error {
		return a.Admin.List(ctx, l, each, tr)
	})
}

// ListsUnsorted marks that directory buckets list in no order.
func (a *ExpressAdmin) ListsUnsorted() {}

// Uploads also lists whole directories.
func (a *ExpressAdmin) Uploads(ctx context.Context, bucket, prefix string, each func(store.Upload) error) error {
	return a.Admin.Uploads(ctx, bucket, s3.ListPrefix(prefix), func(u store.Upload) error {
		if !strings.HasPrefix(u.Key, prefix) {
			return nil
		}
		return each(u)
	})
}
