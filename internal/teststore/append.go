package teststore

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
)

// An appender adds appends to a store, as AWS documents them for directory buckets, because no
// store in the tests supports them. It accepts only payload that is signed as a whole, and keeps
// only the number of parts.
type appender struct {
	store string // URL of the store behind it
	limit int    // max parts of an object
	next  http.Handler

	mu    sync.Mutex
	parts map[string]int // by path
}

// StartAppender starts an embedded store that also appends, with up to limit parts per object
// (10000 at AWS).
func StartAppender(t testing.TB, limit int) *Store {
	t.Helper()
	mem := Start(t, Embedded, Options{})
	behind := &url.URL{Scheme: "http", Host: mem.Endpoint}
	a := &appender{store: behind.String(), limit: limit, parts: map[string]int{},
		next: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind); r.Out.Host = r.In.Host }}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return &Store{Name: "appender", Endpoint: server.Listener.Addr().String(), Region: mem.Region,
		AccessKey: mem.AccessKey, SecretKey: mem.SecretKey}
}

func (a *appender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.Header.Get("X-Amz-Write-Offset-Bytes")
	if r.Method != http.MethodPut || at == "" {
		a.next.ServeHTTP(w, r)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.append(w, r, at); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused by the test's store</Message></Error>", err)
	}
}

// append answers the request, or returns the code of an error.
func (a *appender) append(w http.ResponseWriter, r *http.Request, at string) error {
	offset, err := strconv.ParseInt(at, 10, 64)
	if err != nil || r.Header.Get("X-Amz-Decoded-Content-Length") != "" {
		return fmt.Errorf("InvalidArgument")
	}
	data, err := a.content(r.URL.Path)
	if err != nil {
		return err
	}
	if data == nil {
		a.parts[r.URL.Path] = 0
	}
	switch {
	case offset != int64(len(data)):
		return fmt.Errorf("InvalidWriteOffset")
	case a.parts[r.URL.Path] >= a.limit:
		return fmt.Errorf("TooManyParts")
	}
	more, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	data = append(data, more...)
	put, err := http.NewRequest(http.MethodPut, a.store+r.URL.Path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(put)
	if err != nil {
		return err
	}
	resp.Body.Close()
	a.parts[r.URL.Path]++
	w.Header().Set("ETag", resp.Header.Get("ETag"))
	w.Header().Set("X-Amz-Object-Size", strconv.Itoa(len(data)))
	w.WriteHeader(resp.StatusCode)
	return nil
}

// content returns an object's content, or nil if it does not exist.
func (a *appender) content(path string) ([]byte, error) {
	resp, err := http.Get(a.store + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	return io.ReadAll(resp.Body)
}
