package ais

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// codeBucketExists is the code of S3 for a bucket that exists already.
const codeBucketExists = "BucketAlreadyOwnedByYou"

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
		code = store.CodeUnauthorized
	case http.StatusForbidden:
		code = store.CodeDenied
	case http.StatusNotFound:
		if code = store.CodeNoKey; key == "" || strings.HasPrefix(text, "bucket ") {
			code = store.CodeNoBucket
		}
	case http.StatusConflict:
		code = store.CodeConflict
	}
	return store.Refusal(reply.Status, code, text)
}
