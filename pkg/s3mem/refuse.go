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
		return []string{"versionId", "uploadId", "max-parts", "part-number-marker", "response-content-type",
			"response-content-language", "response-expires", "response-cache-control",
			"response-content-disposition", "response-content-encoding"}
	case onObject && method == http.MethodPut:
		return []string{"partNumber", "uploadId"}
	case onObject && method == http.MethodPost:
		return []string{"uploads", "uploadId"}
	case onObject && method == http.MethodDelete:
		return []string{"uploadId", "versionId"}
	case method == http.MethodGet:
		return []string{"location", "versioning", "list-type", "prefix", "delimiter", "max-keys", "marker",
			"continuation-token", "start-after", "encoding-type", "fetch-owner", "uploads", "max-uploads",
			"key-marker", "upload-id-marker"}
	case method == http.MethodPost:
		return []string{"delete"}
	}
	return nil
}

// headers are the x-amz headers that the store supports, or that have no effect.
func headers() []string {
	return []string{"X-Amz-Date", "X-Amz-Content-Sha256", "X-Amz-Decoded-Content-Length", "X-Amz-Trailer",
		"X-Amz-Security-Token", "X-Amz-User-Agent", "X-Amz-Sdk-Checksum-Algorithm", "X-Amz-Checksum-Mode",
		"X-Amz-Checksum-Algorithm", "X-Amz-Checksum-Type", "X-Amz-Request-Payer", "X-Amz-Expected-Bucket-Owner"}
}

// snowball is user metadata that some stores take as a request to unpack a TAR.
const snowball = "X-Amz-Meta-Snowball-Auto-Extract"

// unsupported returns the function in a request that the store does not support, or "".
func unsupported(r *http.Request) string {
	bucket, key := split(r)
	if bucket != "" && r.Method == http.MethodPost && r.URL.RawQuery == "" {
		return "POST without a subresource"
	}
	if what := unsupportedQuery(r, key != ""); what != "" {
		return what
	}
	for name, values := range r.Header {
		switch {
		case name == snowball, strings.HasPrefix(name, "X-Minio-"):
			return "the header " + name
		case name == "X-Amz-Storage-Class" && values[0] == "STANDARD", name == "X-Amz-Acl" && values[0] == "private":
		case strings.HasPrefix(name, "X-Amz-Meta-"), checksumOf(name) != nil, !strings.HasPrefix(name, "X-Amz-"):
		case name == "X-Amz-Bucket-Object-Lock-Enabled" && strings.EqualFold(values[0], "false"):
		case !slices.Contains(headers(), name):
			return "the header " + name
		}
	}
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("If-Unmodified-Since") != "" {
		return "If-Unmodified-Since"
	}
	return ""
}

func unsupportedQuery(r *http.Request, onObject bool) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	known := queries(r.Method, onObject)
	for name, values := range r.URL.Query() {
		switch {
		case name == "versionId" && values[0] != "" && values[0] != "null":
			return "versions"
		case name == "x-id", strings.HasPrefix(name, "X-Amz-"): // an SDK's label; a presigned request
		case !slices.Contains(known, name):
			return r.Method + " with ?" + name
		}
	}
	return ""
}
