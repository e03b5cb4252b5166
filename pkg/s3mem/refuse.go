package s3mem

import (
	"net/http"
	"slices"
	"strings"
)

// These are the functions that the store supports; it rejects everything else. A list of
// unsupported functions would have to grow with S3, and anything missing from it would be answered
// 200 without being done.

// queries returns the meaningful query parameters for a kind of request.
func queries(method string, onObject bool) []string {
	switch {
	case onObject && (method == http.MethodGet || method == http.MethodHead):
		return []string{"versionId", "partNumber", "tagging", "retention", "uploadId", "max-parts", "part-number-marker", "response-content-type",
			"response-content-language", "response-expires", "response-cache-control",
			"response-content-disposition", "response-content-encoding"}
	case onObject && method == http.MethodPut:
		return []string{"partNumber", "uploadId", "tagging", "retention", "versionId"}
	case onObject && method == http.MethodPost:
		return []string{"uploads", "uploadId"}
	case onObject && method == http.MethodDelete:
		return []string{"uploadId", "versionId", "tagging"}
	case method == http.MethodGet:
		return []string{"location", "versioning", "list-type", "prefix", "delimiter", "max-keys", "marker",
			"continuation-token", "start-after", "encoding-type", "fetch-owner", "uploads", "max-uploads",
			"key-marker", "upload-id-marker", "versions", "version-id-marker", "object-lock", "tagging"}
	case method == http.MethodPut:
		return []string{"versioning", "tagging"}
	case method == http.MethodDelete:
		return []string{"tagging"}
	case method == http.MethodPost:
		return []string{"delete"}
	}
	return nil
}

// headers are the x-amz headers that all requests may have.
func headers() []string {
	return []string{"X-Amz-Date", "X-Amz-Content-Sha256", "X-Amz-Decoded-Content-Length", "X-Amz-Trailer",
		"X-Amz-Security-Token", "X-Amz-User-Agent", "X-Amz-Sdk-Checksum-Algorithm", "X-Amz-Checksum-Mode",
		"X-Amz-Checksum-Algorithm", "X-Amz-Checksum-Type", "X-Amz-Request-Payer", "X-Amz-Expected-Bucket-Owner"}
}

// headersOf are the other x-amz headers that the store supports for a kind of request.
func headersOf(r *http.Request, onObject bool) []string {
	q := r.URL.Query()
	switch {
	case onObject && r.Method == http.MethodPut && (q.Has("tagging") || q.Has("retention")):
		return []string{bypassHeader}
	case onObject && r.Method == http.MethodPut:
		return []string{taggingHeader, writeOffsetHeader, copySourceHeader, copySourceHeader + "-Range", copySourceHeader + "-If-Match",
			"X-Amz-Metadata-Directive", "X-Amz-Tagging-Directive"}
	case onObject && r.Method == http.MethodPost && q.Has("uploads"):
		return []string{taggingHeader}
	case onObject && r.Method == http.MethodDelete, q.Has("delete"):
		return []string{bypassHeader}
	case !onObject && r.Method == http.MethodPut:
		return []string{lockBucketHeader}
	}
	return nil
}

// snowball is user metadata that some stores take as a request to unpack a TAR.
const snowball = "X-Amz-Meta-Snowball-Auto-Extract"

// unsupported returns the function in a request that the store does not support, or "".
func unsupported(r *http.Request) string {
	bucket, key := split(r)
	if bucket != "" && r.Method == http.MethodPost && r.URL.RawQuery == "" && (key != "" || !isForm(r)) {
		return "POST without a subresource"
	}
	if what := unsupportedQuery(r, key != ""); what != "" {
		return what
	}
	some := headersOf(r, key != "")
	for name, values := range r.Header {
		if unsupportedHeader(name, values[0]) && !slices.Contains(some, name) {
			return "the header " + name
		}
	}
	if own := r.Header.Get(copySourceHeader) + r.Header.Get(writeOffsetHeader); own != "" && (r.Header.Get("If-Match") != "" || r.Header.Get("If-None-Match") != "") {
		return "conditions of copies and appends"
	}
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("If-Unmodified-Since") != "" {
		return "If-Unmodified-Since"
	}
	return ""
}

// unsupportedHeader reports whether not every request may have a header.
func unsupportedHeader(name, value string) bool {
	switch {
	case name == snowball, strings.HasPrefix(name, "X-Minio-"):
		return true
	case name == "X-Amz-Storage-Class" && value == "STANDARD", name == "X-Amz-Acl" && value == "private":
		return false
	case strings.HasPrefix(name, "X-Amz-Meta-"), checksumOf(name) != nil, !strings.HasPrefix(name, "X-Amz-"):
		return false
	}
	return !slices.Contains(headers(), name)
}

func unsupportedQuery(r *http.Request, onObject bool) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	known := queries(r.Method, onObject)
	for name := range r.URL.Query() {
		switch {
		case name == "versionId" && r.Method == http.MethodPut && !r.URL.Query().Has("tagging") && !r.URL.Query().Has("retention"):
			return "PUT of a version"
		case name == "x-id", strings.HasPrefix(name, "X-Amz-"): // an SDK's label; a presigned request
		case !slices.Contains(known, name):
			return r.Method + " with ?" + name
		}
	}
	return ""
}
