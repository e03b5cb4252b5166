package ais

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// Codes of errors. Where an error means the same as in S3, it has the code of S3, which warp knows.
const (
	codeUnauthorized = "Unauthorized"
	codeDenied       = "AccessDenied"
	codeNoKey        = "NoSuchKey"
	codeNoBucket     = "NoSuchBucket"
	codeConflict     = "Conflict"
	codeBucketExists = "BucketAlreadyOwnedByYou"
)

// refusal turns an answer other than a success into an error.
func refusal(reply *httpclient.Reply, key string) *store.Error {
	var said struct {
		Message string `json:"message"`
	}
	document := reply.Document()
	text := strings.TrimSpace(string(document[:min(len(document), 1024)]))
	if json.Unmarshal(document, &said) == nil && said.Message != "" {
		text = said.Message
	}
	code := fmt.Sprintf("HTTP%d", reply.Status)
	switch reply.Status {
	case http.StatusUnauthorized:
		code = codeUnauthorized
	case http.StatusForbidden:
		code = codeDenied
	case http.StatusNotFound:
		if code = codeNoKey; key == "" || strings.HasPrefix(text, "bucket ") {
			code = codeNoBucket
		}
	case http.StatusConflict:
		code = codeConflict
	}
	return store.Refusal(reply.Status, code, text)
}
