package s3

import (
	"fmt"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

// ResponseError returns the error of an answer. seen is its status, in case that resp has none.
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
	return &store.Error{Code: code, Message: store.OneLine(message), Status: status, Region: resp.Region}
}
