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
	"unsafe"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3/xmlscan"
)

// answerCheck makes sure that an answer is the expected document. minio-go decodes any document of
// any size. It mistakes an error that a store sends with status 200 for an empty listing, or for a
// bucket without versions.
type answerCheck struct {
	next  http.RoundTripper
	total time.Duration // time limit of each request, up to the end of its answer; 0 = only the limit of bookkeeping
	admin bool          // it is bookkeeping, whose errors are not reported as the store's own codes

	documents *store.Documents // all that are in memory; nil = not counted
}

const (
	// maxListing limits a page of a listing, and the results of a batch.
	maxListing = store.MaxDocument
	// maxDocument limits all other documents.
	maxDocument = 1 << 20
)

// A document says what the answer to a request must contain.
type document struct {
	root     string // the name of its root element; "" = any except an error
	max      int64
	required bool // without a root, an empty answer is refused, too
}

// documentOf returns the expected answer to req, or false if the answer is an object.
func documentOf(req *http.Request) (document, bool) {
	query := req.URL.Query()
	root := func(name string) (document, bool) { return document{root: name, max: maxDocument}, true }
	listing := func(name string) (document, bool) { return document{root: name, max: maxListing}, true }
	if req.Method == http.MethodPost && query.Has("delete") {
		return listing("DeleteResult")
	}
	if req.Method != http.MethodGet {
		// A store that knows nothing of copies uploads nothing instead, and its answer is empty.
		copies := req.Method == http.MethodPut && req.Header.Get("X-Amz-Copy-Source") != ""
		multipart := req.Method == http.MethodPost && (query.Has("uploads") || query.Has("uploadId"))
		return document{max: maxDocument, required: copies || multipart}, true
	}
	switch {
	case query.Has("list-type"):
		return listing("ListBucketResult")
	case query.Has("versions"):
		return listing("ListVersionsResult")
	case query.Has("uploads"):
		return listing("ListMultipartUploadsResult")
	case query.Has("uploadId"):
		return listing("ListPartsResult")
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

// RoundTrip receives all of a document before it returns it.
func (a answerCheck) RoundTrip(req *http.Request) (*http.Response, error) {
	want, isDocument := documentOf(req)
	limit := a.total
	if want.root == "LocationConstraint" {
		limit = cmp.Or(limit, store.AdminTimeout) // only bookkeeping sends these requests
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
	if err := moved(resp); err != nil && a.admin {
		resp.Body.Close()
		cancel()
		return nil, err
	}
	allowNoTime(req, resp)
	if !isDocument {
		resp.Body = &limitedAnswer{resp.Body, ctx, cancel, resp.StatusCode}
		return resp, nil
	}
	defer cancel()
	text, memory, err := a.receive(resp, want)
	if err != nil {
		return nil, store.LimitError(ctx, err, resp.StatusCode)
	}
	if none := noneOf(want, resp.StatusCode, text); none != "" {
		text, resp.StatusCode, resp.Status = []byte(none), http.StatusOK, ""
	}
	if err := a.check(want, resp.StatusCode, req.Method, text); err != nil {
		memory.Free()
		return nil, err
	}
	resp.Body = &receivedDocument{bytes.NewReader(text), memory}
	return resp, nil
}

// receive receives a document, and counts its memory and what minio-go needs for reading it. The caller
// frees it.
func (a answerCheck) receive(resp *http.Response, want document) (text []byte, memory store.Document, err error) {
	defer resp.Body.Close()
	if a.documents != nil {
		memory = a.documents.New()
	}
	text, err = io.ReadAll(io.LimitReader(memory.Reader(resp.Body, resp.StatusCode), want.max+1))
	if err == nil && int64(len(text)) > want.max {
		err = store.TooLong(resp.StatusCode, want.max)
	}
	if err == nil {
		err = memory.Grow(len(text)+entries(text)*int(unsafe.Sizeof(minio.ObjectInfo{})), resp.StatusCode)
	}
	if err != nil {
		memory.Free()
	}
	return text, memory, err
}

// entries returns how many entries a listing has at most.
func entries(text []byte) (n int) {
	for _, begin := range []string{"<Contents", "<Version", "<DeleteMarker", "<CommonPrefixes"} {
		n += bytes.Count(text, []byte(begin))
	}
	return n - bytes.Count(text, []byte("<VersionId"))
}

// A receivedDocument is the body of an answer that has been received.
type receivedDocument struct {
	*bytes.Reader
	memory store.Document
}

func (d *receivedDocument) Close() error {
	d.memory.Free()
	return nil
}

// allowNoTime gives an object without a Last-Modified header the zero time. minio-go takes it for an error.
func allowNoTime(req *http.Request, resp *http.Response) {
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	if reads && resp.StatusCode < 300 && resp.Header.Get("Last-Modified") == "" {
		resp.Header.Set("Last-Modified", time.Time{}.Format(http.TimeFormat))
	}
}

// noneOf returns the document for an answer that says in other words that there is none, and "" for
// all other answers. S3Mock answers a question for tags with an empty document, and one for the
// region with NoSuchKey; stores without regions may not know the question.
func noneOf(want document, status int, text []byte) string {
	switch {
	case want.root == "Tagging" && status == http.StatusOK && len(bytes.TrimSpace(text)) == 0:
		return "<Tagging><TagSet></TagSet></Tagging>"
	case want.root != "LocationConstraint":
		return ""
	}
	var said struct {
		XMLName xml.Name
		Code    string
	}
	_ = xml.Unmarshal(text, &said)
	missing := status == http.StatusNotFound && said.Code != "" && said.Code != "NoSuchBucket"
	unknown := status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed
	if missing || unknown || status == http.StatusOK && said.XMLName.Local == "ListBucketResult" {
		return "<LocationConstraint></LocationConstraint>"
	}
	return ""
}

// slowestUpload is the min bandwidth, in bytes per second, that bookkeeping expects.
const slowestUpload = 64 << 10

// check checks the root element of a document that came with a success.
func (a answerCheck) check(want document, status int, method string, text []byte) error {
	if status/100 != 2 || status != http.StatusOK && want.root != "" || method == http.MethodHead {
		return nil // the caller accepts no other success
	}
	var x xmlscan.Scanner
	x.Scan(text)
	_, err := x.Next()
	root := string(x.Name)
	switch {
	case err == nil && root == "Error":
		return a.errorInSuccess(status, text)
	case want.root == "" && (err == nil || !want.required) || err == nil && root == want.root:
		return nil
	case err != nil && want.root == "":
		return store.BadAnswer(status, "%s", err.(*store.Error).Message)
	case err != nil:
		bad := store.BadAnswer(status, "%s, instead of <%s>", err.(*store.Error).Message, want.root)
		if len(bytes.TrimSpace(text)) == 0 {
			bad.Document = store.Nothing
		}
		return bad
	case want.root == "ListVersionsResult" && root == "ListBucketResult" && !listsObjects(&x):
		return nil
	}
	bad := store.BadAnswer(status, "the answer is a document <%.40s> instead of <%s>", root, want.root)
	if !strings.EqualFold(root, "html") {
		bad.Document = store.OneLine(root)
	}
	return bad
}

// listsObjects reports whether a listing whose root element x has read contains objects. S3Mock
// gives listings of versions the root element of listings of objects.
func listsObjects(x *xmlscan.Scanner) bool {
	for {
		kind, err := x.Next()
		switch {
		case err != nil:
			return true
		case kind == xmlscan.Done:
			return false
		case kind == xmlscan.Start && x.Depth == 2 && string(x.Name) == "Contents":
			return true
		}
	}
}

// errorInSuccess returns the error that a store has sent with a status of success. Bookkeeping must
// not act on its code, which may elsewhere mean that the store lacks a function.
func (a answerCheck) errorInSuccess(status int, text []byte) error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(text, &said) // reads as much as there is
	code := store.OneLine(cmp.Or(said.Code, "an error"))
	if a.admin || said.Code == "" || strings.ContainsAny(code, " \t") {
		return store.BadAnswer(status, "the store answered with success and an error document: %s %s", code, store.OneLine(said.Message))
	}
	return store.Errorf(code, status, "%s", store.OneLine(said.Message))
}

// A limitedAnswer is the body of an object that is read within the time limit of its request.
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

// pageOf returns the start of the page that a request asks for, or false if it does not ask for a
// page.
func pageOf(query url.Values) (store.ListPlace, bool) {
	if !query.Has("list-type") && !query.Has("versions") {
		return store.ListPlace{}, false
	}
	return store.ListPlace{Token: query.Get("continuation-token"), Key: query.Get("key-marker"), Version: query.Get("version-id-marker")}, true
}

// moved rejects redirects that change the request. They are for browsers, and nothing follows them.
// minio-go itself follows those to another region.
func moved(resp *http.Response) error {
	to := resp.Header.Get("Location")
	if resp.StatusCode/100 != 3 || to == "" || resp.Header.Get("x-amz-bucket-region") != "" {
		return nil
	}
	return store.Errorf(store.CodeRedirect, resp.StatusCode, "the store sends this request to %s, and warp follows status 307 and 308 only", store.OneLine(to))
}
