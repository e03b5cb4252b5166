package s3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

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
	err := store.Refusal(status, code, message)
	err.Region = resp.Region
	return err
}

// refused turns an answer other than success into an error.
func (e *Engine) refused(r *httpclient.Reply, q *request) error {
	resp := refusal(r.Head(), r.Document(), q.key)
	err := ResponseError(resp, r.Status)
	switch resp.Code {
	case "AuthorizationHeaderMalformed", "InvalidRegion", "AccessDenied", "PermanentRedirect", "TemporaryRedirect":
		if e.region == "" && resp.Region != "" {
			e.regions.Learn(q.bucket, resp.Region)
		}
	}
	if e.sessions != nil && (r.Status == 400 || r.Status == 401 || r.Status == 403) {
		e.sessions.Doubt(q.bucket)
	}
	return err
}

// refusal interprets an answer as minio-go does, so that both engines report the same codes.
func refusal(h *httpclient.Head, doc []byte, key string) minio.ErrorResponse {
	resp := minio.ErrorResponse{StatusCode: h.Status}
	if xml.NewDecoder(bytes.NewReader(doc)).Decode(&resp) != nil {
		resp = withoutDocument(h, bytes.TrimSpace(doc), key)
	}
	if len(h.Code) > 0 {
		resp.Code = string(h.Code)
	}
	if len(h.Message) > 0 {
		resp.Message = strings.Trim(string(h.Message), `"`)
	}
	if resp.Region = strings.TrimSpace(resp.Region); resp.Region == "" {
		resp.Region = string(h.Region)
	}
	if resp.Code == "InvalidRegion" && resp.Region != "" {
		resp.Message = fmt.Sprintf("Region does not match, expecting region ‘%s’.", resp.Region)
	}
	return resp
}

func withoutDocument(h *httpclient.Head, doc []byte, key string) minio.ErrorResponse {
	resp := minio.ErrorResponse{StatusCode: h.Status}
	switch {
	case h.Status == 404 && key == "":
		resp.Code, resp.Message = minio.NoSuchBucket, "The specified bucket does not exist."
	case h.Status == 404:
		resp.Code, resp.Message = minio.NoSuchKey, "The specified key does not exist."
	case h.Status == 403:
		resp.Code, resp.Message = minio.AccessDenied, "Access Denied."
	case h.Status == 409:
		resp.Code, resp.Message = minio.Conflict, "Bucket not empty."
	case h.Status == 412:
		resp.Code, resp.Message = minio.PreconditionFailed, "At least one of the pre-conditions you specified did not hold."
	default:
		resp.Code, resp.Message = string(h.Text), string(doc)
		if resp.Message == "" {
			resp.Message = resp.Code
		}
	}
	return resp
}
