// Package s3mem holds the two stores that live in the process: Embedded, behind --host=embedded, to try warp
// without a store, and Null, which remembers nothing and so measures warp itself.
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
	// MemoryLimit is how many bytes the store may hold, its bookkeeping included; 0 means 1 GiB. The process
	// stays below about 1.3 times that.
	MemoryLimit int64
	// OnFull is called once, on a goroutine of its own, when an upload is refused because of the limit.
	OnFull func(error)
}

// Embedded is an S3 store in memory on loopback. It takes any credentials, and answers 501 to whatever it
// cannot do.
type Embedded struct {
	listener net.Listener
	server   *http.Server
	mem      *memory
	backend  *backend
	s3       http.Handler
	done     chan error
	restore  func()
}

// Start serves an embedded store on a free port of loopback.
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
	e.server = &http.Server{Handler: e, ReadHeaderTimeout: time.Minute}
	e.restore = limitHeap(o.MemoryLimit)
	go func() { e.done <- e.server.Serve(l) }()
	return e, nil
}

// limitHeap keeps the collector from letting the heap grow to twice what the store holds, which is what it
// does by default. A limit that the user has set is left alone.
func limitHeap(store int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if before != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(store + store/5 + 64<<20)
	return func() { debug.SetMemoryLimit(before) }
}

// Addr is the host:port to talk to.
func (e *Embedded) Addr() string { return e.listener.Addr().String() }

// Close ends the store with all its connections.
func (e *Embedded) Close() error {
	defer e.restore()
	err := e.server.Close()
	if served := <-e.done; !errors.Is(served, http.ErrServerClosed) {
		return errors.Join(err, served)
	}
	e.done <- http.ErrServerClosed // a second Close finds the same end
	return err
}

// ServeHTTP stands before gofakes3: it refuses what cannot be done, keeps the memory limit, and undoes the
// framing of streamed uploads, which gofakes3 knows for one of its three forms only and for parts not at all.
func (e *Embedded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if what := unsupported(r); what != "" {
		writeError(w, r, http.StatusNotImplemented, "NotImplemented", "The embedded store does not support "+what+".")
		return
	}
	a := &answer{ResponseWriter: w}
	switch r.Method {
	case http.MethodPut, http.MethodPost:
		size, err := unframe(r, w.Header())
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
	case http.MethodGet, http.MethodHead:
		if match := r.Header.Get("If-Match"); match != "" && !e.matches(r, match) {
			writeError(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "The object's ETag is another one.")
			return
		}
	}
	e.s3.ServeHTTP(a, r)
	a.finish()
}

// matches looks at If-Match, which gofakes3 ignores on downloads.
func (e *Embedded) matches(r *http.Request, etag string) bool {
	bucket, key := split(r)
	o, err := e.backend.lookup(bucket, key)
	// A missing object is for gofakes3 to report.
	return err != nil || etag == "*" || strings.Trim(o.etag(), `"`) == strings.Trim(etag, `"`)
}

// split takes a path-style request apart.
func split(r *http.Request) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return bucket, key
}
