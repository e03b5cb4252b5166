package minio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"

	"warp/internal/human"
	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// A wire sends the requests that minio-go has built. It adds what minio-go does not support: a path
// in front of bucket names, and redirects. Both change the address and so the signature.
type wire struct {
	next      http.RoundTripper
	path      string // the path in front of all others
	redirects *store.Redirects
	creds     store.Credentials
	checksum  minio.ChecksumType // for uploads
	express   *express           // nil = no directory buckets
}

// A payload is what a request uploads, or what several requests upload in parts. It can be read
// again.
type payload struct {
	io.ReaderAt
	size, part int64 // part = 0: uploaded in one request
}

type payloadKey struct{}

// withPayload returns a context for requests that upload p.
func withPayload(ctx context.Context, p payload) context.Context {
	return context.WithValue(ctx, payloadKey{}, p)
}

// maxResent limits how much is kept of a request that uploads no payload. The largest is a list of
// names to delete.
const maxResent = 16 << 20

// RoundTrip sends req, and sends it again if the store redirects it.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := keepBody(req); err != nil {
		return nil, err
	}
	sent := req
	condition, conditional := req.Context().Value(conditionKey{}).(store.Header)
	if conditional {
		req.Header.Set(condition.Name, condition.Value)
	}
	if w.path != "" || w.express != nil || conditional {
		to := *req.URL
		to.Path = w.path + to.Path
		if w.express != nil {
			w.express.address(req, &to)
		}
		var err error
		if sent, err = w.resigned(req, &to); err != nil {
			return nil, err
		}
	}
	redirected := nethttp.ExpectRedirect(req.Context())
	resp, err := w.next.RoundTrip(sent)
	if w.express != nil && err == nil {
		w.express.answered(req, resp.StatusCode)
	}
	if err != nil || !store.IsRedirect(resp.StatusCode) || resp.Header.Get("Location") == "" {
		return resp, err
	}
	to, err := w.redirects.Target(sent.URL, resp.Header.Get("Location"), resp.StatusCode)
	if err != nil && resp.Header.Get("X-Amz-Bucket-Region") != "" {
		return resp, nil // the region differs, not the host
	}
	drop(resp)
	if err != nil {
		return nil, err
	}
	redirected()
	again, err := w.resigned(req, to)
	if err != nil {
		return nil, err
	}
	again.Response = resp // as in net/http for redirected requests
	if resp, err = w.next.RoundTrip(again); err != nil {
		return nil, err
	}
	if next := resp.Header.Get("Location"); store.IsRedirect(resp.StatusCode) && next != "" {
		drop(resp)
		return nil, store.RedirectedAgain(to, next, resp.StatusCode)
	}
	return resp, nil
}

// keepBody makes the body of a request that uploads no payload readable more than once.
func keepBody(req *http.Request) error {
	_, uploads := payloadOf(req)
	if req.Body == nil || req.GetBody != nil || uploads {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(req.Body, maxResent+1))
	req.Body.Close()
	switch {
	case err != nil:
		return err
	case len(text) > maxResent:
		return store.Errorf("RequestFailed", 0, "the request has a document of more than %s", human.Bytes(maxResent))
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Body, err = req.GetBody()
	return err
}

// payloadOf returns the payload that req uploads, or false if it uploads none.
func payloadOf(req *http.Request) (*io.SectionReader, bool) {
	p, ok := req.Context().Value(payloadKey{}).(payload)
	if !ok || req.Method != http.MethodPut || req.Body == nil {
		return nil, false
	}
	off, size := int64(0), p.size
	if n, err := strconv.ParseInt(req.URL.Query().Get("partNumber"), 10, 64); err == nil && p.part > 0 {
		off = (n - 1) * p.part
		size = min(p.part, p.size-off)
	}
	return io.NewSectionReader(p, off, size), off >= 0 && size > 0
}

// resigned returns req for another address, signed for it and with its payload at the start.
func (w *wire) resigned(req *http.Request, to *url.URL) (*http.Request, error) {
	again := req.Clone(req.Context())
	again.URL, again.Host, again.Trailer = to, "", nil
	again.URL.RawPath = s3utils.EncodePath(to.Path)
	size := int64(0)
	if section, ok := payloadOf(req); ok {
		again.Body, size = io.NopCloser(section), section.Size()
	} else if req.GetBody != nil {
		var err error
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
		size = req.ContentLength
	}
	again.ContentLength = size
	if w.express != nil {
		return w.signExpress(req, again)
	}
	return w.sign(again, size)
}

// sign signs a request that still has the headers of minio-go's signature for another address.
func (w *wire) sign(req *http.Request, size int64) (*http.Request, error) {
	was, hash := req.Header.Get("Authorization"), req.Header.Get("X-Amz-Content-Sha256")
	trailer := w.unsign(req)
	streamed := strings.HasPrefix(hash, "STREAMING-")
	if was == "" {
		if trailer != nil {
			return signer.UnsignedTrailer(*req, trailer), nil
		}
		return req, nil // a form, which contains its signature, or an anonymous request
	}
	keys, err := w.creds.Keys(req.Context())
	if err != nil {
		return nil, err
	}
	region := regionOf(was)
	switch {
	case strings.HasPrefix(was, "AWS "):
		return signer.SignV2(*req, keys.AccessKey, keys.SecretKey, false), nil
	case region == "":
		return nil, errors.New("the request is signed in a way that cannot be repeated for another address")
	case streamed && hash != s3.UnsignedTrailer:
		req.Trailer = trailer
		return signer.StreamingSignV4(req, keys.AccessKey, keys.SecretKey, keys.SessionToken, region, size, time.Now().UTC(), newSHA256()), nil
	}
	return signer.SignV4Trailer(*req, keys.AccessKey, keys.SecretKey, keys.SessionToken, region, trailer), nil
}

// unsign removes the headers that the signature has added to a request. It returns what follows the
// payload, or nil if nothing does.
func (w *wire) unsign(req *http.Request) (trailer http.Header) {
	h := req.Header
	trailed := h.Get("X-Amz-Trailer") != ""
	for _, name := range []string{"Authorization", "Date", "X-Amz-Date", "X-Amz-Decoded-Content-Length", "X-Amz-Security-Token", s3.SessionToken, "X-Amz-Trailer"} {
		h.Del(name)
	}
	if strings.HasPrefix(h.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		removeChunked(h)
	}
	if !trailed {
		return nil
	}
	name := w.checksum.KeyCapitalized()
	trailer = http.Header{name: {w.checksum.EncodeToString(nil)}}
	req.Body = io.NopCloser(&trailedBody{Reader: req.Body, sum: w.checksum.Hasher(), trailer: trailer, name: name})
	return trailer
}

// removeChunked removes the encoding of a payload in chunks, but keeps the object's own.
func removeChunked(h http.Header) {
	rest := strings.TrimPrefix(strings.TrimPrefix(h.Get("Content-Encoding"), "aws-chunked"), ",")
	if h.Del("Content-Encoding"); rest != "" {
		h.Set("Content-Encoding", rest)
	}
}

// regionOf returns the region in the scope of a V4 signature: the third part of
// Credential=KEY/DATE/REGION/SERVICE/aws4_request, counted from the end, since keys may contain
// slashes.
func regionOf(authorization string) string {
	_, scope, _ := strings.Cut(authorization, "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(scope, "/")
	if len(parts) < 5 {
		return ""
	}
	return parts[len(parts)-3]
}

func hexSHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// newSHA256 returns a hash in the form that minio-go's signer needs.
func newSHA256() closableHash { return closableHash{sha256.New()} }

type closableHash struct{ hash.Hash }

// Close does nothing.
func (closableHash) Close() {}
