package ais

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// An Admin does the bookkeeping on one host.
type Admin struct {
	*Engine
	slow *httpclient.Client // for requests that take minutes
}

var (
	_ store.Admin         = (*Admin)(nil)
	_ store.BucketRemover = (*Admin)(nil)

	_ store.PropertySetter = (*Admin)(nil)
)

func newAdmin(cfg *store.Config, at store.Address, api *httpclient.API) (*Admin, error) {
	open := func(limit time.Duration) (*store.Config, *httpclient.Client, error) {
		own := cfg.ForAdmin()
		own.Timeout = limit
		client, err := api.NewHTTP(own, at, new(store.Counters), limit)
		return own, client, err
	}
	own, client, err := open(store.AdminTimeout)
	if err != nil {
		return nil, err
	}
	_, slow, err := open(transformTimeout)
	return &Admin{Engine: newEngine(own, client, at.Path), slow: slow}, err
}

// Close closes the connections, as [Engine.Close] does.
func (a *Admin) Close() {
	a.slow.Close()
	a.Engine.Close()
}

func newTrace() *store.Trace { return store.NewTrace(time.Now()) }

// List also checks each entry, because clean-up deletes what it returns.
func (a *Admin) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	return store.NewListCheck(l.Prefix, false).Each(each, func(each func(store.Object) bool) error {
		return a.Engine.List(ctx, l, each, tr)
	})
}

// do sends a request about a bucket, with a body unless act is nil.
func (a *Admin) do(ctx context.Context, method, bucket, param string, act *action) error {
	r := a.toBucket(method, bucket)
	defer r.End()
	if param != "" {
		r.Query(param)
	}
	if act != nil {
		r.JSON(act)
	}
	_, err := a.send(ctx, r, "", newTrace())
	return err
}

// BucketExists requests the bucket without adding it to the cluster if it is behind it.
func (a *Admin) BucketExists(ctx context.Context, name string) (bool, error) {
	err := a.do(ctx, http.MethodHead, name, "dont_add_remote_bck_md=true", nil)
	if store.CodeOf(err) == codeNoBucket {
		return false, nil
	}
	return err == nil, err
}

// Region returns "".
func (a *Admin) Region(context.Context, string) (string, error) { return "", nil }

// ownMark is the object that marks a bucket made by warp. Buckets have no metadata that could do
// it.
const ownMark = ".warp/made-by-warp"

// MakeBucket creates a bucket in the cluster, with the properties in the options.
func (a *Admin) MakeBucket(ctx context.Context, name string, lock bool) error {
	switch {
	case lock:
		return store.Errorf("NotImplemented", 0, "AIStore has no S3 object lock")
	case a.ais.Backend != ownBackend:
		return store.Errorf(codeNoBucket, 0, "%s://%s does not exist, and AIStore makes buckets of its own only", a.ais.Backend, name)
	}
	act := action{Action: "create-bck"}
	if len(a.ais.Properties) > 0 {
		act.Value = json.RawMessage(a.ais.Properties)
	}
	err := a.do(ctx, http.MethodPost, name, "", &act)
	if store.CodeOf(err) == codeConflict {
		err.(*store.Error).Code = codeBucketExists
	}
	if err != nil {
		return err
	}
	_, err = a.Put(ctx, store.Put{Ref: store.Ref{Bucket: name, Key: ownMark}, Body: bytes.NewReader(nil)}, newTrace())
	return err
}

// SetProperties gives the bucket the properties in the options.
func (a *Admin) SetProperties(ctx context.Context, name string) error {
	return a.do(ctx, http.MethodPatch, name, "", &action{Action: "set-bprops", Value: json.RawMessage(a.ais.Properties)})
}

// MadeByWarp reports whether the bucket has warp's mark.
func (a *Admin) MadeByWarp(ctx context.Context, name string) bool {
	_, err := a.Stat(ctx, store.Ref{Bucket: name, Key: ownMark}, newTrace())
	return err == nil
}

// RemoveBucket removes an empty bucket that warp has made.
func (a *Admin) RemoveBucket(ctx context.Context, name string) (removed bool, err error) {
	if a.ais.Backend != ownBackend || !a.MadeByWarp(ctx, name) {
		return false, nil
	}
	empty := true
	err = a.List(ctx, store.List{Bucket: name, MaxKeys: 2}, func(o store.Object) bool {
		empty = o.Key == ownMark
		return empty
	}, newTrace())
	if err != nil || !empty {
		return false, err
	}
	err = a.do(ctx, http.MethodDelete, name, "", &action{Action: "destroy-bck"})
	return err == nil, err
}

// Versioning returns "". An object has a version number that grows, but the old content is gone.
func (a *Admin) Versioning(context.Context, string) (string, error) { return "", nil }

// SetVersioning is unsupported.
func (a *Admin) SetVersioning(context.Context, string, bool) error {
	return store.Errorf("NotImplemented", 0, "AIStore keeps no versions of objects")
}

// ObjectLock returns none.
func (a *Admin) ObjectLock(context.Context, string) (store.Lock, error) { return store.Lock{}, nil }

// Headers returns the object's own properties as S3 headers.
func (a *Admin) Headers(ctx context.Context, ref store.Ref, _ bool) (http.Header, error) {
	r, err := a.toObject(http.MethodHead, &ref)
	if err != nil {
		return nil, err
	}
	defer r.End()
	r.Query("props=custom")
	reply, err := a.send(ctx, r, ref.Key, newTrace())
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	reply.EachHeader(customHeader, func(line []byte) bool {
		if name, value, ok := strings.Cut(string(line), "="); ok {
			h.Set("X-Amz-Meta-"+name, value)
		}
		return true
	})
	return h, nil
}

// maxSmall is larger than any object that is read whole.
const maxSmall = 1 << 20

// A smallWriter keeps up to maxSmall bytes.
type smallWriter struct{ data []byte }

func (s *smallWriter) Write(p []byte) (int, error) {
	s.data = append(s.data, p[:min(len(p), maxSmall-len(s.data))]...)
	return len(p), nil
}

// Read returns the content of a small object.
func (a *Admin) Read(ctx context.Context, ref store.Ref) ([]byte, error) {
	var into smallWriter
	_, err := a.Get(ctx, store.Get{Ref: ref, Into: &into}, newTrace())
	return into.data, err
}

// UploadFile is unsupported, because it serves functions that the store does not have.
func (a *Admin) UploadFile(context.Context, store.Ref, string, string) error {
	return store.Errorf("NotImplemented", 0, "files are not uploaded to AIStore")
}

// Delete treats a missing object as deleted, because clean-up may delete it twice.
func (a *Admin) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	return a.remove(ctx, refs, true, tr)
}

// DeleteLocked is Delete, because nothing is locked.
func (a *Admin) DeleteLocked(ctx context.Context, refs []store.Ref) error {
	return a.Delete(ctx, refs, newTrace())
}

// Uploads returns none.
func (a *Admin) Uploads(context.Context, string, string, func(store.Upload) error) error { return nil }

// Parts returns none.
func (a *Admin) Parts(context.Context, store.Upload, func(store.Part) bool) error { return nil }
