package minio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
	"warp/pkg/store/s3/xmlscan"
)

// answerCheck makes sure that an answer is the document that was asked for. minio-go decodes whatever comes, of any
// size: it takes an error that a store sends with status 200 for an empty listing, or for a bucket without versions.
type answerCheck struct {
	next  http.RoundTripper
	total time.Duration // each request has that long for all of its answer; 0 = no limit but for what bookkeeping alone asks
	admin bool          // it is bookkeeping, whose errors are no figures: codes need not be the store's own
}

const (
	// maxListing bounds a page of a listing, and the results of a batch. 1000 names of 1 KiB, escaped, are 3 MiB.
	maxListing = 16 << 20
	// maxDocument bounds all other documents.
	maxDocument = 1 << 20
)

// A document is what the answer to a request has to be.
type document struct {
	root string // the name of its outermost element; "" = any but an error
	max  int64
}

// documentOf says which document answers req; false where the answer is an object.
func documentOf(req *http.Request) (document, bool) {
	query := req.URL.Query()
	root := func(name string) (document, bool) { return document{name, maxDocument}, true }
	if req.Method == http.MethodPost && query.Has("delete") {
		return document{"DeleteResult", maxListing}, true
	}
	if req.Method != http.MethodGet {
		return root("")
	}
	switch {
	case query.Has("list-type"):
		return document{"ListBucketResult", maxListing}, true
	case query.Has("versions"):
		return document{"ListVersionsResult", maxListing}, true
	case query.Has("uploads"):
		return document{"ListMultipartUploadsResult", maxListing}, true
	case query.Has("uploadId"):
		return document{"ListPartsResult", maxListing}, true
	case query.Has("location"):
		return root("LocationConstraint")
	case query.Has("versioning"):
		return root("VersioningConfiguration")
	case query.Has("object-lock"):
		return root("ObjectLockConfiguration")
	case query.Has("tagging"):
		return root("Tagging")
	}
	return document{}, false
}

// RoundTrip receives all of a document before anybody reads it.
func (a answerCheck) RoundTrip(req *http.Request) (*http.Response, error) {
	want, isDocument := documentOf(req)
	limit := a.total
	if want.root == "LocationConstraint" {
		limit = cmp.Or(limit, store.AdminTimeout) // asked for once, whoever asks
	}
	if limit > 0 && req.ContentLength > 0 {
		limit += time.Duration(req.ContentLength) * time.Second / slowestUpload
	}
	ctx, cancel := store.WithLimit(req.Context(), limit)
	resp, err := a.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		defer cancel()
		if err = store.LimitError(ctx, err, 0); a.admin {
			err = nethttp.NeedsTLS(req, err)
		}
		return nil, err
	}
	if err := redirected(resp); err != nil && a.admin {
		resp.Body.Close()
		cancel()
		return nil, err
	}
	if !isDocument {
		resp.Body = &limitedAnswer{resp.Body, ctx, cancel, resp.StatusCode}
		return resp, nil
	}
	defer cancel()
	text, err := io.ReadAll(io.LimitReader(resp.Body, want.max+1))
	resp.Body.Close()
	if err != nil {
		return nil, store.LimitError(ctx, err, resp.StatusCode)
	}
	if int64(len(text)) > want.max {
		return nil, store.BadAnswer(resp.StatusCode, "the answer's document is longer than %d bytes", want.max)
	}
	if err := a.check(want, resp.StatusCode, req.Method, text); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// slowestUpload is how many bytes per second a line has to carry.
const slowestUpload = 64 << 10

// check looks at the outermost element of a document that came with a success.
func (a answerCheck) check(want document, status int, method string, text []byte) error {
	if status/100 != 2 || status != http.StatusOK && want.root != "" || method == http.MethodHead {
		return nil // whoever asked takes no other success
	}
	var x xmlscan.Scanner
	x.Scan(text)
	_, err := x.Next()
	switch {
	case err == nil && string(x.Name) == "Error":
		return a.errorInSuccess(status, text)
	case want.root == "" || err == nil && string(x.Name) == want.root:
		return nil
	case err != nil:
		return store.BadAnswer(status, "%s, instead of <%s>", err.(*store.Error).Message, want.root)
	}
	return store.BadAnswer(status, "the answer is a document <%.40s> instead of <%s>", x.Name, want.root)
}

// errorInSuccess is the error that a store has sent as a success. Bookkeeping must not mistake it for the answer that
// its code means elsewhere, such as that the store lacks a function.
func (a answerCheck) errorInSuccess(status int, text []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(text, &said) // what there is of it
	code := store.OneLine(cmp.Or(said.Code, "an error"))
	if a.admin || said.Code == "" || strings.ContainsAny(code, " \t") {
		return store.BadAnswer(status, "the store says that it succeeded, with the document of an error: %s %s", code, store.OneLine(said.Message))
	}
	return store.Errorf(code, status, "%s", store.OneLine(said.Message))
}

// A limitedAnswer is an object, whose time counts as well.
type limitedAnswer struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	status int
}

func (l *limitedAnswer) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = store.LimitError(l.ctx, err, l.status)
	}
	return n, err
}

func (l *limitedAnswer) Close() error {
	defer l.cancel()
	return l.ReadCloser.Close()
}

// pageOf is the place where the page begins that a request asks for; false where it asks for no page of a listing.
func pageOf(query url.Values) (s3.ListPlace, bool) {
	if !query.Has("list-type") && !query.Has("versions") {
		return s3.ListPlace{}, false
	}
	return s3.ListPlace{Token: query.Get("continuation-token"), Key: query.Get("key-marker"), Version: query.Get("version-id-marker")}, true
}

// redirected says where a store sends whoever asks. minio-go follows a region by itself.
func redirected(resp *http.Response) error {
	to := resp.Header.Get("Location")
	if resp.StatusCode/100 != 3 || to == "" || resp.Header.Get("x-amz-bucket-region") != "" {
		return nil
	}
	return store.Errorf(store.CodeRedirect, resp.StatusCode, "the store sends this request to %s, and warp does not follow", store.OneLine(to))
}
