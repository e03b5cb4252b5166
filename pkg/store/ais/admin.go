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
	_ store.Admin          = (*Admin)(nil)
	_ store.BucketRemover  = (*Admin)(nil)
	_ store.PropertySetter = (*Admin)(nil)
)

func newAdmin(cfg *store.Config, settings Settings, at store.Address, api *httpclient.API) (*Admin, error) {
	client, own, err := api.NewAdmin(cfg, at, store.AdminTimeout)
	if err != nil {
		return nil, err
	}
	slow, _, err := api.NewAdmin(cfg, at, transformTimeout)
	e := newEngine(own, settings.forAdmin(), client, at.Path)
	e.ignoreMissing = true
	return &Admin{Engine: e, slow: slow}, err
}

// Close closes the connections, as [Engine.Close] does.
func (a *Admin) Close() {
	a.slow.Close()
	a.Engine.Close()
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
	_, err := a.send(ctx, r, "", store.NewTrace(time.Now()))
	return err
}

// BucketExists requests the bucket without adding it to the cluster if it is behind it.
func (a *Admin) BucketExists(ctx context.Context, name string) (bool, error) {
	err := a.do(ctx, http.MethodHead, name, "dont_add_remote_bck_md=true", nil)
	if store.CodeOf(err) == store.CodeNoBucket {
		return false, nil
	}
	return err == nil, err
}

// ownMark is the object that marks a bucket made by warp. Buckets have no metadata that could do
// it.
const ownMark = ".warp/made-by-warp"

// MakeBucket creates a bucket in the cluster, with the properties in the options.
func (a *Admin) MakeBucket(ctx context.Context, name string) error {
	if a.ais.Backend != ownBackend {
		return store.Errorf(store.CodeNoBucket, 0, "%s://%s does not exist, and AIStore creates only buckets of its own", a.ais.Backend, name)
	}
	act := action{Action: "create-bck"}
	if len(a.ais.Properties) > 0 {
		act.Value = json.RawMessage(a.ais.Properties)
	}
	err := a.do(ctx, http.MethodPost, name, "", &act)
	if store.CodeOf(err) == store.CodeConflict {
		err.(*store.Error).Code = codeBucketExists
	}
	if err != nil {
		return err
	}
	_, err = a.Put(ctx, store.Put{Ref: store.Ref{Bucket: name, Key: ownMark}, Body: bytes.NewReader(nil)}, store.NewTrace(time.Now()))
	return err
}

// SetProperties gives the bucket the properties in the options.
func (a *Admin) SetProperties(ctx context.Context, name string) error {
	return a.do(ctx, http.MethodPatch, name, "", &action{Action: "set-bprops", Value: json.RawMessage(a.ais.Properties)})
}

// MadeByWarp reports whether the bucket has warp's mark.
func (a *Admin) MadeByWarp(ctx context.Context, name string) bool {
	_, err := a.Stat(ctx, store.Ref{Bucket: name, Key: ownMark}, store.NewTrace(time.Now()))
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
	}, store.NewTrace(time.Now()))
	if err != nil || !empty {
		return false, err
	}
	err = a.do(ctx, http.MethodDelete, name, "", &action{Action: "destroy-bck"})
	return err == nil, err
}

// Headers returns the object's own properties as S3 headers.
func (a *Admin) Headers(ctx context.Context, ref store.Ref, _ bool) (http.Header, error) {
	r, err := a.toObject(http.MethodHead, &ref)
	if err != nil {
		return nil, err
	}
	defer r.End()
	r.Query("props=custom")
	reply, err := a.send(ctx, r, ref.Key, store.NewTrace(time.Now()))
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
