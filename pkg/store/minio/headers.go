package minio

import (
	"net/http"

	"github.com/minio/minio-go/v7/pkg/encrypt"

	"warp/pkg/store"
)

// extraHeaders adds headers to an upload before it is signed. minio-go accepts metadata and a few
// known headers, but lets encryption set any header.
type extraHeaders struct {
	headers []store.Header
	inner   encrypt.ServerSide // the encryption of the upload; nil = none
}

// withHeaders adds headers to the headers of inner.
func withHeaders(inner encrypt.ServerSide, headers []store.Header) encrypt.ServerSide {
	if len(headers) == 0 {
		return inner
	}
	return extraHeaders{headers, inner}
}

// conditionKey marks a deletion with the header of its condition, which minio-go cannot send.
type conditionKey struct{}

// Type returns the type of the inner encryption.
func (e extraHeaders) Type() encrypt.Type {
	if e.inner == nil {
		return ""
	}
	return e.inner.Type()
}

// Marshal writes the headers.
func (e extraHeaders) Marshal(h http.Header) {
	if e.inner != nil {
		e.inner.Marshal(h)
	}
	for _, x := range e.headers {
		h.Set(x.Name, x.Value)
	}
}
