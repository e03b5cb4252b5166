package ais

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

var (
	_ store.Engine       = (*Engine)(nil)
	_ store.ConfigReader = (*Engine)(nil)
)

// Paths of the API.
const (
	objectsPath = "/v1/objects"
	bucketsPath = "/v1/buckets"
	clusterPath = "/v1/cluster"
	daemonPath  = "/v1/daemon"
	etlPath     = "/v1/etl"
)

// request returns a request of the method whose target begins with path. End has to follow.
func (e *Engine) request(method, path string) *httpclient.Request {
	r := httpclient.NewRequest(method, e.path)
	r.Raw(path)
	r.Follows = httpclient.IsMoved
	return r
}

// toObject returns a request about an object.
func (e *Engine) toObject(method string, ref *store.Ref) (*httpclient.Request, error) {
	if !validKey(ref.Key) {
		return nil, store.Errorf("RequestFailed", 0, "%.60q is not a valid object name", ref.Key)
	}
	r := e.request(method, objectsPath)
	r.Segment(ref.Bucket)
	r.Path(ref.Key)
	r.Query(e.bucket)
	return r, nil
}

// toBucket returns a request about a bucket.
func (e *Engine) toBucket(method, bucket string) *httpclient.Request {
	r := e.request(method, bucketsPath)
	r.Segment(bucket)
	r.Query(e.bucket)
	return r
}

// maxKey is the max length of an object's name.
const maxKey = 1024

// validKey reports whether the store accepts a name unchanged. It normalizes paths with dots or
// consecutive slashes.
func validKey(key string) bool {
	if key == "" || len(key) > maxKey || key[0] == '/' || strings.Contains(key, "//") {
		return false
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}

// send sends a request about the object of that key, if it has one. Any answer but a success is an
// error.
func (e *Engine) send(ctx context.Context, r *httpclient.Request, key string, tr *store.Trace) (*httpclient.Reply, error) {
	reply, err := e.client.Do(ctx, r, tr)
	if err == nil {
		err = checkStatus(reply, key)
	}
	return reply, err
}

// checkStatus returns an error unless a reply is a success.
func checkStatus(reply *httpclient.Reply, key string) error {
	if reply.Status/100 == 2 {
		return nil
	}
	return refusal(reply, key)
}

// Get downloads an object or a range of it. The store has no parts, so a part is a range.
func (e *Engine) Get(ctx context.Context, g store.Get, tr *store.Trace) (store.Download, error) {
	if len(g.Headers) > 0 || g.Part > 0 && g.Length == 0 || g.VersionID != "" || g.If.Given() {
		return store.Download{}, store.ErrUnsupported
	}
	r, err := e.toObject(http.MethodGet, &g.Ref)
	if err != nil {
		return store.Download{}, err
	}
	defer r.End()
	if e.ais.Latest {
		r.Query("latest-ver=true")
	}
	if e.ais.ETL != "" {
		r.Param("etl_name", e.ais.ETL)
	}
	r.Offset, r.Length = g.Offset, g.Length
	reply, err := e.client.Open(ctx, r, tr)
	if err == nil {
		err = checkStatus(reply, g.Key)
	}
	if err != nil {
		return store.Download{}, err
	}
	if g.Checksum != nil {
		g.Checksum(storedChecksum(reply))
	}
	d := store.Download{Object: store.Object{Ref: g.Ref, Size: reply.Length()}}
	if reply.Status == http.StatusOK && e.ais.ETL == "" { // otherwise the checksum may belong to other content
		d.ETag = etag(reply, tr)
	}
	d.Bytes, err = reply.Receive(ctx, g.Into, tr)
	return d, err
}

// statProperties are the properties to request of an object. Clusters that ignore the parameter
// return more.
const statProperties = "props=checksum,atime,version"

// Stat returns an object's metadata.
func (e *Engine) Stat(ctx context.Context, ref store.Ref, tr *store.Trace) (store.Object, error) {
	r, err := e.toObject(http.MethodHead, &ref)
	if err != nil {
		return store.Object{}, err
	}
	defer r.End()
	r.Query(statProperties)
	reply, err := e.send(ctx, r, ref.Key, tr)
	if err != nil {
		return store.Object{}, err
	}
	return store.Object{Ref: ref, Size: reply.Length(), ETag: etag(reply, tr), LastModified: usedAt(reply)}, nil
}

// etag returns the checksum in an answer. It does not allocate if the checksum is the expected one.
func etag(reply *httpclient.Reply, tr *store.Trace) (sum string) {
	reply.EachHeader("ais-checksum-value", func(value []byte) bool {
		if sum = tr.ExpectedETag(); string(value) != sum {
			sum = string(value)
		}
		return false
	})
	return sum
}

// usedAt returns when an object was last used.
func usedAt(reply *httpclient.Reply) time.Time {
	ns, err := strconv.ParseInt(reply.Header("ais-atime"), 10, 64)
	if err != nil || ns <= 0 {
		return reply.LastModified()
	}
	return time.Unix(0, ns)
}

// Delete removes one object, or many with a job of the cluster.
func (e *Engine) Delete(ctx context.Context, refs []store.Ref, tr *store.Trace) error {
	switch len(refs) {
	case 0:
		return nil
	case 1:
		err := e.removeOne(ctx, &refs[0], tr)
		if e.ignoreMissing && store.CodeOf(err) == store.CodeNoKey {
			return nil
		}
		return err
	}
	return e.removeMany(ctx, refs, tr)
}

func (e *Engine) removeOne(ctx context.Context, ref *store.Ref, tr *store.Trace) error {
	r, err := e.toObject(http.MethodDelete, ref)
	if err != nil {
		return err
	}
	defer r.End()
	_, err = e.send(ctx, r, ref.Key, tr)
	return err
}

// ReadConfig reads the configuration of the cluster from the proxy, and returns its length.
func (e *Engine) ReadConfig(ctx context.Context, tr *store.Trace) (int64, error) {
	r := e.request(http.MethodGet, clusterPath)
	defer r.End()
	r.Query("what=cluster_config")
	reply, err := e.send(ctx, r, "", tr)
	if err != nil {
		return 0, err
	}
	if n := len(reply.Document()); n > 0 {
		return int64(n), nil
	}
	return 0, store.BadAnswer(reply.Status, "the cluster's configuration is empty")
}
