package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// answerCheck makes sure that an answer is the document that was asked for. minio-go decodes whatever comes, of any
// size: it takes an error that a store sends with status 200 for an empty listing, or for a bucket without versions.
type answerCheck struct {
	next  http.RoundTripper
	total time.Duration // each request has that long for all of its answer; 0 = no limit but for what bookkeeping alone asks
	desk  bool          // it is bookkeeping, whose errors are no figures: codes need not be the store's own
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
		limit = cmp.Or(limit, deskTimeout) // asked for once, whoever asks
	}
	if limit > 0 && req.ContentLength > 0 {
		limit += time.Duration(req.ContentLength) * time.Second / slowestUpload
	}
	ctx, cancel := withLimit(req.Context(), limit)
	resp, err := a.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		defer cancel()
		if err = tooLong(ctx, err, 0); a.desk {
			err = needsTLS(req, err)
		}
		return nil, err
	}
	if err := redirected(resp); err != nil && a.desk {
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
		return nil, tooLong(ctx, err, resp.StatusCode)
	}
	if int64(len(text)) > want.max {
		return nil, badAnswer(resp.StatusCode, "the answer's document is longer than %d bytes", want.max)
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
	var x xmlScanner
	x.scan(text)
	_, err := x.next()
	switch {
	case err == nil && string(x.name) == "Error":
		return a.errorInSuccess(status, text)
	case want.root == "" || err == nil && string(x.name) == want.root:
		return nil
	case err != nil:
		return badAnswer(status, "%s, instead of <%s>", err.(*Error).Message, want.root)
	}
	return badAnswer(status, "the answer is a document <%.40s> instead of <%s>", x.name, want.root)
}

// errorInSuccess is the error that a store has sent as a success. Bookkeeping must not mistake it for the answer that
// its code means elsewhere, such as that the store lacks a function.
func (a answerCheck) errorInSuccess(status int, text []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(text, &said) // what there is of it
	code := oneLine(cmp.Or(said.Code, "an error"))
	if a.desk || said.Code == "" || strings.ContainsAny(code, " \t") {
		return badAnswer(status, "the store says that it succeeded, with the document of an error: %s %s", code, oneLine(said.Message))
	}
	return errorf(code, status, "%s", oneLine(said.Message))
}

// errTooLong is the cause of a context whose request took too long as a whole.
var errTooLong = errors.New("the answer was not complete in time")

func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, errTooLong)
}

// tooLong replaces what a request fails with that took too long as a whole.
func tooLong(ctx context.Context, err error, status int) error {
	switch {
	case context.Cause(ctx) != errTooLong:
		return err
	case status == 0:
		return errorf(CodeAnswerTimeout, status, "the store did not answer in time")
	}
	return errorf(CodeStallTimeout, status, "the store's answer was not complete in time")
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
		err = tooLong(l.ctx, err, l.status)
	}
	return n, err
}

func (l *limitedAnswer) Close() error {
	defer l.cancel()
	return l.ReadCloser.Close()
}

// pageOf is the place where the page begins that a request asks for; false where it asks for no page of a listing.
func pageOf(query url.Values) (listPlace, bool) {
	if !query.Has("list-type") && !query.Has("versions") {
		return listPlace{}, false
	}
	return listPlace{token: query.Get("continuation-token"), key: query.Get("key-marker"), version: query.Get("version-id-marker")}, true
}
