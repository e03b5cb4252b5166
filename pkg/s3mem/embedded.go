// Package s3mem contains two stores that run in the process: Embedded, behind --host=embedded, to
// try warp without a store, and Null, which stores nothing and so measures warp itself.
package s3mem

import (
	"errors"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"
)

// EmbeddedOptions configure an embedded store.
type EmbeddedOptions struct {
	// MemoryLimit is the max memory of the store in bytes, including its bookkeeping; 0 means 1
	// GiB. The process stays below about 1.3 times that.
	MemoryLimit int64
	// OnFull is called once, in its own goroutine, when an upload is rejected because of the limit.
	OnFull func(error)
}

// Embedded is an S3 store in memory on loopback. It accepts any credentials, and answers 501 to
// requests that it does not support.
type Embedded struct {
	listener net.Listener
	server   *http.Server
	mem      *memory
	backend  *backend
	s3       http.Handler
	bypass   http.Handler // the same, which deletes locked versions
	done     chan error
	restore  func()
}

// Start starts an embedded store on a free port of loopback.
func Start(o EmbeddedOptions) (*Embedded, error) {
	if o.MemoryLimit == 0 {
		o.MemoryLimit = 1 << 30
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &Embedded{listener: l, mem: &memory{limit: o.MemoryLimit, onFull: o.OnFull}, done: make(chan error, 1)}
	e.backend = newBackend(e.mem)
	e.s3 = gofakes3.New(e.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	e.bypass = gofakes3.New(bypassing{e.backend}, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	e.restore = limitHeap(o.MemoryLimit)
	go func() { e.done <- e.server.Serve(l) }()
	return e, nil
}

// limitHeap keeps the garbage collector from letting the heap grow to twice the size of the store,
// which is its default. It does not change a limit that the user has set.
func limitHeap(store int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(store + store/5 + 64<<20)
	return func() { debug.SetMemoryLimit(before) }
}

// Addr returns the host:port to connect to.
func (e *Embedded) Addr() string { return e.listener.Addr().String() }

// Close stops the store and closes all its connections.
func (e *Embedded) Close() error {
	defer e.restore()
	err := e.server.Close()
	if served := <-e.done; !errors.Is(served, http.ErrServerClosed) {
		return errors.Join(err, served)
	}
	e.done <- http.ErrServerClosed // for a second Close
	return err
}

// ServeHTTP handles requests before gofakes3: it rejects unsupported ones, enforces the memory
// limit, and removes the framing of streamed uploads. gofakes3 supports only one of its three
// forms, and none for parts.
func (e *Embedded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if what := unsupported(r); what != "" {
		writeError(w, r, http.StatusNotImplemented, "NotImplemented", "The embedded store does not support "+what+".")
		return
	}
	a := &answer{ResponseWriter: w, request: r}
	size := int64(0)
	switch r.Method {
	case http.MethodPut, http.MethodPost:
		var err error
		size, err = unframe(r, w.Header())
		if err != nil {
			writeError(w, r, http.StatusBadRequest, "InvalidRequest", err.Error())
			return
		}
		release, err := e.mem.reserve(size)
		if err != nil {
			writeError(w, r, http.StatusInsufficientStorage, "InsufficientStorage", err.Error())
			return
		}
		defer release()
		if id := r.URL.Query().Get("uploadId"); r.Method == http.MethodPost && id != "" {
			bucket, key := split(r)
			e.backend.completeIf(bucket, key, gofakes3.UploadID(id), conditionsOf(r))
		}
	case http.MethodGet, http.MethodHead:
		if match := r.Header.Get("If-Match"); match != "" && match != "*" {
			a.matches = func(etag string) bool { return e.matches(r, match, etag) }
		}
	}
	if own := e.own(r, size); own != nil {
		if err := own(a, r); err != nil {
			fail(a, r, err)
		}
		a.finish()
		return
	}
	e.serve(a, r)
	a.finish()
}

// serve has gofakes3 answer, and does what that leaves out.
func (e *Embedded) serve(a *answer, r *http.Request) {
	name, key, id := target(r)
	switch download := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case download && key != "":
		if err := e.rangeOfPart(r, a.Header()); err != nil {
			fail(a, r, err)
			return
		}
		if o, err := e.backend.lookupVersion(name, key, ""); err == nil && id == noVersion && o.version() != "" {
			fail(a, r, gofakes3.ErrNotImplemented) // gofakes3 would answer with the newest version
			return
		}
		if r.Method == http.MethodHead && id != "" {
			// gofakes3 ignores the version of HEAD. net/http drops the payload.
			r = r.Clone(r.Context())
			r.Method = http.MethodGet
		}
	case r.Method == http.MethodPost && r.Header.Get(bypassHeader) == "true":
		e.bypass.ServeHTTP(a, r)
		return
	}
	e.s3.ServeHTTP(a, r)
	if key == "" && r.Method == http.MethodPut && strings.EqualFold(r.Header.Get(lockBucketHeader), "true") && a.status < 300 {
		e.backend.lockBucket(name)
	}
}

// conditionsOf returns the conditions of a write; nil = none.
func conditionsOf(r *http.Request) *gofakes3.PutConditions {
	var c gofakes3.PutConditions
	if match := r.Header.Get("If-Match"); match != "" {
		c.IfMatch = &match
	}
	if none := r.Header.Get("If-None-Match"); none != "" {
		c.IfNoneMatch = &none
	}
	if c == (gofakes3.PutConditions{}) {
		return nil
	}
	return &c
}

// deleteIf deletes an object if the conditions hold.
func (e *Embedded) deleteIf(w http.ResponseWriter, r *http.Request) error {
	bucket, key := split(r)
	if _, err := e.backend.deleteIf(bucket, key, conditionsOf(r)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// matches compares the ETag of an answer with If-Match. "" means the current version's.
func (e *Embedded) matches(r *http.Request, match, etag string) bool {
	if etag == "" {
		o, err := e.backend.lookupVersion(target(r))
		if err != nil {
			return false // it was deleted meanwhile
		}
		etag = o.etag()
	}
	return strings.Trim(etag, `"`) == strings.Trim(match, `"`)
}

// split splits a path-style request into bucket and key.
func split(r *http.Request) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bucket, key
}
