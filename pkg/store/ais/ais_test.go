package ais

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/enginetest"
	"warp/internal/standin"
	"warp/pkg/store"
)

// open opens the engine and the admin of a cluster.
func open(t *testing.T, a *standin.AIStore, cfg store.Config) (*Engine, *Admin) {
	t.Helper()
	return openAt(t, a.Host(), cfg)
}

func openAt(t *testing.T, name string, cfg store.Config) (*Engine, *Admin) {
	t.Helper()
	cfg.AppVersion, cfg.Concurrency = "1", 1
	addr := store.Address{Name: name}
	cfg.Hosts = []store.Address{addr}
	driver, err := Open(&cfg)
	check.OK(t, err)
	engine, err := driver.Engine(&cfg, addr, new(store.Counters))
	check.OK(t, err)
	t.Cleanup(engine.Close)
	admin, err := driver.Admin(&cfg, addr)
	check.OK(t, err)
	t.Cleanup(admin.Close)
	return engine.(*Engine), admin.(*Admin)
}

// The engines pass the suite behind a proxy of the cluster whose answers are unusual but valid.
func TestOddities(t *testing.T) {
	t.Parallel()
	enginetest.WithOddities(t, func(t *testing.T, through func(string) string, lacks enginetest.Lacks) {
		a := standin.StartAIStore(t, standin.AIStoreOptions{Polls: 2, Token: "secret"})
		engine, admin := openAt(t, through(a.Host()), store.Config{Bearer: store.Bearer{Token: "secret"}})
		check.OK(t, admin.MakeBucket(t.Context(), "enginetest"))
		enginetest.RunWithout(t, engine, lacks)
	})
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"lean", "net/http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			a := standin.StartAIStore(t, standin.AIStoreOptions{Polls: 2, Token: "secret"})
			engine, admin := open(t, a, store.Config{Bearer: store.Bearer{Token: "secret"}})
			check.OK(t, admin.MakeBucket(t.Context(), "enginetest"))
			if way == "lean" {
				enginetest.Run(t, engine)
			} else {
				enginetest.Run(t, admin)
			}
			nodes := map[string]int{}
			for _, r := range a.Seen() {
				nodes[r.Node]++
			}
			if nodes["proxy"] == 0 || nodes["target"] == 0 {
				t.Errorf("requests by kind of node: %v", nodes)
			}
		})
	}
}

func put(t *testing.T, e store.Engine, bucket, key, content string) store.Object {
	t.Helper()
	o, err := e.Put(t.Context(), store.Put{Ref: store.Ref{Bucket: bucket, Key: key}, Body: strings.NewReader(content), Size: int64(len(content))}, store.NewTrace(time.Now()))
	check.OK(t, err)
	return o
}

func keys(t *testing.T, e store.Engine, l store.List) (all []string) {
	t.Helper()
	check.OK(t, e.List(t.Context(), l, func(o store.Object) bool { all = append(all, o.Key); return true }, store.NewTrace(time.Now())))
	return all
}

// A row includes the time and the request of a redirect. The first byte belongs to the object.
func TestTrace(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	engine, admin := open(t, a, store.Config{})
	check.OK(t, admin.MakeBucket(t.Context(), "b"))
	put(t, engine, "b", "k", "content")
	for name, e := range map[string]store.Engine{"lean": engine, "net/http": admin} {
		tr := store.NewTrace(time.Now())
		d, err := e.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "b", Key: "k"}}, tr)
		if err != nil || d.Bytes != 7 || tr.Requests() != 2 || tr.Status() != 200 || tr.FirstByte() <= 0 {
			t.Errorf("%s: %+v, %v: %d requests, status %d", name, d, err, tr.Requests(), tr.Status())
		}
	}
}

// The payload of a large upload goes only to the target, or to the host that asks for it.
func TestLargeUpload(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	engine, admin := open(t, a, store.Config{})
	check.OK(t, admin.MakeBucket(t.Context(), "b"))
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<20/16)
	for name, e := range map[string]store.Engine{"lean": engine, "nethttp": admin} {
		for n := range 3 {
			before, tr := a.Received(), store.NewTrace(time.Now())
			ref := store.Ref{Bucket: "b", Key: fmt.Sprint(name, n)}
			_, err := e.Put(t.Context(), store.Put{Ref: ref, Body: bytes.NewReader(content), Size: int64(len(content))}, tr)
			check.OK(t, err)
			if n := a.Received() - before; n > 2000 || tr.Requests() != 2 || tr.Status() != 200 || tr.LastByte() <= 0 || tr.FirstByte() < tr.LastByte() {
				t.Errorf("%s: the proxy received %d bytes; %d requests, status %d, last byte %v, first byte %v", name, n, tr.Requests(), tr.Status(), tr.LastByte(), tr.FirstByte())
			}
			var got bytes.Buffer
			_, err = e.Get(t.Context(), store.Get{Ref: ref, Into: &got}, store.NewTrace(time.Now()))
			if check.OK(t, err); !bytes.Equal(got.Bytes(), content) {
				t.Errorf("%s: %d bytes arrived, others than were sent", name, got.Len())
			}
		}
	}
}

// A store that does not redirect asks for the payload, or rejects it before it is sent.
func TestLargeUploadWithoutRedirect(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<20/16)
	for _, status := range []int{http.StatusOK, http.StatusForbidden} {
		var got atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == http.StatusOK {
				data, _ := io.ReadAll(r.Body)
				got.Store(int64(len(data)))
			}
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		addr := store.Address{Name: server.Listener.Addr().String()}
		cfg := store.Config{AppVersion: "1", Concurrency: 1, Hosts: []store.Address{addr}}
		driver, err := Open(&cfg)
		check.OK(t, err)
		engine, err := driver.Engine(&cfg, addr, new(store.Counters))
		check.OK(t, err)
		t.Cleanup(engine.Close)
		for range 3 {
			got.Store(0)
			tr := store.NewTrace(time.Now())
			_, err = engine.Put(t.Context(), store.Put{Ref: store.Ref{Bucket: "b", Key: "k"}, Body: bytes.NewReader(content), Size: int64(len(content))}, tr)
			refused := status != http.StatusOK
			if (err != nil) != refused || (got.Load() != int64(len(content))) != refused || int(tr.Status()) != status || tr.Requests() != 1 || !refused && tr.FirstByte() < tr.LastByte() {
				t.Errorf("status %d: %v, %d bytes arrived; %d requests, status %d, last byte %v, first byte %v", status, err, got.Load(), tr.Requests(), tr.Status(), tr.LastByte(), tr.FirstByte())
			}
		}
	}
}

// A backend's name decides whether a listing includes objects behind the cluster. A bucket there is
// never made or removed.
func TestBackends(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	a.AddRemote("aws", "far", map[string][]byte{"a": []byte("1"), "b": []byte("22")})
	engine, admin := open(t, a, store.Config{Settings: store.EncodeSettings(Settings{Backend: "aws"})})
	cached, _ := open(t, a, store.Config{Settings: store.EncodeSettings(Settings{Backend: "aws", Cached: true, Latest: true})})
	if all, in := keys(t, engine, store.List{Bucket: "far"}), keys(t, cached, store.List{Bucket: "far"}); len(all) != 2 || len(in) != 0 {
		t.Errorf("listed are %v, and in the cluster are %v", all, in)
	}
	_, err := cached.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "far", Key: "a"}}, store.NewTrace(time.Now()))
	check.OK(t, err)
	if in := keys(t, cached, store.List{Bucket: "far"}); !slices.Equal(in, []string{"a"}) {
		t.Errorf("in the cluster are %v", in)
	}
	if !slices.ContainsFunc(a.Seen(), func(r standin.AISSeen) bool { return strings.Contains(r.Query, "latest-ver=true") }) {
		t.Error("nothing was asked for its latest version")
	}
	if err := admin.MakeBucket(t.Context(), "other"); store.CodeOf(err) != store.CodeNoBucket {
		t.Errorf("a bucket behind the cluster: %v", err)
	}
	if removed, err := admin.RemoveBucket(t.Context(), "far"); removed || err != nil {
		t.Errorf("a bucket behind the cluster was removed: %t, %v", removed, err)
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	ctx := t.Context()
	_, admin := open(t, a, store.Config{Settings: store.EncodeSettings(Settings{Properties: []byte(`{"mirror":{"copies":3,"enabled":true}}`)})})
	exists, err := admin.BucketExists(ctx, "own")
	if check.OK(t, err); exists {
		t.Error("the bucket is there before it is made")
	}
	check.OK(t, admin.MakeBucket(ctx, "own"))
	if err := admin.MakeBucket(ctx, "own"); store.CodeOf(err) != codeBucketExists {
		t.Errorf("a bucket made again: %v", err)
	}
	if got := fmt.Sprint(a.Properties("own")["mirror"]); got != "map[copies:3 enabled:true]" {
		t.Errorf("mirror: %s", got)
	}
	put(t, admin, "own", "foreign", "x")
	if removed, err := admin.RemoveBucket(ctx, "own"); removed || err != nil {
		t.Errorf("a bucket with an object was removed: %t, %v", removed, err)
	}
	check.OK(t, admin.Delete(ctx, []store.Ref{{Bucket: "own", Key: "foreign"}}, store.NewTrace(time.Now())))
	if removed, err := admin.RemoveBucket(ctx, "own"); !removed || err != nil {
		t.Errorf("an empty bucket was not removed: %t, %v", removed, err)
	}
	_, plain := open(t, a, store.Config{})
	check.OK(t, plain.do(ctx, "POST", "foreign", "", &action{Action: "create-bck"}))
	if removed, err := plain.RemoveBucket(ctx, "foreign"); removed || err != nil {
		t.Errorf("a bucket of somebody else's was removed: %t, %v", removed, err)
	}
	_, wrong := open(t, a, store.Config{Settings: store.EncodeSettings(Settings{Properties: []byte(`{"color":"red"}`)})})
	if err := wrong.MakeBucket(ctx, "other"); err == nil || !strings.Contains(err.Error(), `unknown property "color"`) {
		t.Errorf("unknown properties: %v", err)
	}
}

// A job of deletions selects only the given names, and Delete waits for its end.
func TestDeleteMany(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Polls: 3})
	engine, admin := open(t, a, store.Config{})
	check.OK(t, admin.MakeBucket(t.Context(), "b"))
	for _, key := range []string{"1", "2", "3"} {
		put(t, engine, "b", key, "x")
	}
	check.OK(t, engine.Delete(t.Context(), nil, store.NewTrace(time.Now())))
	if err := engine.Delete(t.Context(), []store.Ref{{Bucket: "b", Key: ""}, {Bucket: "b", Key: "1"}}, store.NewTrace(time.Now())); err == nil {
		t.Error("a deletion without a name")
	}
	tr := store.NewTrace(time.Now())
	check.OK(t, engine.Delete(t.Context(), []store.Ref{{Bucket: "b", Key: "1"}, {Bucket: "b", Key: "2"}, {Bucket: "b", Key: "missing"}}, tr))
	if left := keys(t, engine, store.List{Bucket: "b"}); !slices.Equal(left, []string{ownMark, "3"}) || tr.Requests() != 5 {
		t.Errorf("left are %v after %d requests", left, tr.Requests())
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	_, admin := open(t, a, store.Config{})
	check.OK(t, admin.MakeBucket(t.Context(), "b"))
	for _, kind := range checksums() {
		engine, _ := open(t, a, store.Config{Options: store.Options{Checksum: kind}})
		put(t, engine, "b", string(kind), "content")
		var stored store.StoredChecksum
		var into bytes.Buffer
		get := store.Get{Ref: store.Ref{Bucket: "b", Key: string(kind)}, Into: &into, Checksum: func(s store.StoredChecksum) { stored = s }}
		_, err := engine.Get(t.Context(), get, store.NewTrace(time.Now()))
		check.OK(t, err)
		if stored.Algorithm != "XXHASH64" || stored.New() == nil || stored.Value == "" { // the bucket's type
			t.Errorf("%s: stored is %+v", kind, stored)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret"})
	engine, _ := open(t, a, store.Config{Bearer: store.Bearer{Token: "secret"}})
	stranger, _ := open(t, a, store.Config{})
	get := store.Get{Ref: store.Ref{Bucket: "missing", Key: "k"}}
	if _, err := engine.Get(t.Context(), get, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeNoBucket {
		t.Errorf("no bucket: %v", err)
	}
	if _, err := stranger.Get(t.Context(), get, store.NewTrace(time.Now())); store.CodeOf(err) != store.CodeUnauthorized {
		t.Errorf("no token: %v", err)
	}
	for _, key := range []string{"", "/a", "a//b", "../a", "a/./b", "a/..", strings.Repeat("x", maxKey+1)} {
		tr := store.NewTrace(time.Now())
		if _, err := engine.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "b", Key: key}}, tr); err == nil || tr.Requests() > 0 {
			t.Errorf("%.20q: %v after %d requests", key, err, tr.Requests())
		}
	}
}

// A target at another address gets requests, without the token, if the cluster names it. Otherwise
// it gets nothing.
func TestTargetElsewhere(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		a := standin.StartAIStore(t, standin.AIStoreOptions{Token: "secret", TargetAddr: "127.0.0.2", HideTargets: hidden})
		a.Put("b", "k", []byte("content"))
		engine, admin := open(t, a, store.Config{Bearer: store.Bearer{Token: "secret"}})
		for name, e := range map[string]store.Engine{"lean": engine, "net/http": admin} {
			for range 2 {
				d, err := e.Get(t.Context(), store.Get{Ref: store.Ref{Bucket: "b", Key: "k"}}, store.NewTrace(time.Now()))
				if !hidden && (err != nil || d.Bytes != 7) || hidden && (store.CodeOf(err) != store.CodeRedirect || !strings.Contains(err.Error(), "--redirect-hosts=127.0.0.2:")) {
					t.Errorf("%s, hidden %t: %d bytes, %v", name, hidden, d.Bytes, err)
				}
			}
		}
		maps := 0
		for _, r := range a.Seen() {
			if r.Node == "target" && (hidden || r.Token) {
				t.Errorf("hidden %t: a target got %+v", hidden, r)
			}
			if r.Query == "what=smap" {
				maps++
			}
		}
		if maps != 1 {
			t.Errorf("hidden %t: the cluster was asked for its map %d times", hidden, maps)
		}
	}
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	a := standin.StartAIStore(t, standin.AIStoreOptions{})
	engine, _ := open(t, a, store.Config{})
	tr := store.NewTrace(time.Now())
	if n, err := engine.ReadConfig(t.Context(), tr); err != nil || n == 0 || tr.Requests() != 1 {
		t.Errorf("%d bytes, %v, %d requests", n, err, tr.Requests())
	}
}
