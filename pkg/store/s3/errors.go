package s3

import (
	"fmt"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

func isHTML(document string) bool {
	begin := strings.ToLower(strings.TrimSpace(document[:min(len(document), 100)]))
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html")
}

// ResponseError returns the error in an answer. seen is its HTTP status, for answers that do not
// contain it.
func ResponseError(resp minio.ErrorResponse, seen int) *store.Error {
	status := resp.StatusCode
	if status == 0 {
		status = seen
	}
	code := resp.Code
	// minio-go uses the status line as the code of an answer without an S3 error document. It is
	// too long and too varied to group by.
	if code == "" || strings.ContainsAny(code, " \t") {
		code = fmt.Sprintf("HTTP%d", status)
	}
	message := resp.Message
	if message == "" {
		message = resp.Code
	}
	if isHTML(message) {
		message = store.HTMLPage
	}
	return &store.Error{Code: code, Message: store.OneLine(message), Status: status, Region: resp.Region}
}
