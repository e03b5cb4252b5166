package gcs

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/rest"
)

// objectFields are the fields of an object's resource that warp asks for.
const objectFields = "name,generation,size,md5Hash,crc32c,updated"

// A resource is what the API says of an object.
type resource struct {
	Name         string            `json:"name"`
	Generation   string            `json:"generation"`
	Size         string            `json:"size"`
	MD5          string            `json:"md5Hash"`
	CRC32C       string            `json:"crc32c"`
	Updated      time.Time         `json:"updated"`
	ContentType  string            `json:"contentType"`
	StorageClass string            `json:"storageClass"`
	Metadata     map[string]string `json:"metadata"`
}

// object is the resource as the rest of warp knows it. Its version is named only where that is asked for.
func (r *resource) object(bucket string, version bool, status int) (store.Object, error) {
	o := store.Object{Ref: store.Ref{Bucket: bucket, Key: r.Name}, ETag: etagOf(r.MD5, r.CRC32C), LastModified: r.Updated, HasMetadata: len(r.Metadata) > 0}
	if version {
		o.VersionID = r.Generation
	}
	var err error
	if o.Size, err = strconv.ParseInt(r.Size, 10, 64); err != nil || o.Size < 0 {
		return o, store.BadAnswer(status, "the size of object %.60q is %.40q", r.Name, r.Size)
	}
	return o, nil
}

// etagOf is the MD5 in hexadecimal digits, as the XML API has it, or what there is of an object that was composed.
func etagOf(md5, crc string) string {
	if raw, err := base64.StdEncoding.DecodeString(md5); err == nil && len(raw) == 16 {
		return hex.EncodeToString(raw)
	}
	if crc != "" {
		return "crc32c-" + crc
	}
	return ""
}

// decode reads a document into v.
func decode(r *rest.Reply, what string, v any) error {
	if err := json.Unmarshal(r.Document(), v); err != nil {
		return store.BadAnswer(r.Status, "the answer is no JSON of %s: %s", what, store.OneLine(err.Error()))
	}
	return nil
}

// Codes of errors. Those of S3 stand for what means the same, since warp knows them.
const (
	codeDenied       = "AccessDenied"
	codeNoKey        = "NoSuchKey"
	codeNoBucket     = "NoSuchBucket"
	codeNoUpload     = "NoSuchUpload"
	codePrecondition = "PreconditionFailed"
	codeConflict     = "Conflict"
)

// refusal turns an answer that is no success into an error.
func refusal(status int, document []byte, key string) *store.Error {
	var said struct {
		Error struct {
			Message string `json:"message"`
			Errors  []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	text := strings.TrimSpace(string(document[:min(len(document), 1024)]))
	if json.Unmarshal(document, &said) == nil && said.Error.Message != "" {
		text = said.Error.Message
	}
	if begin := strings.ToLower(text); strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html") {
		text = store.HTMLPage
	}
	reason := ""
	if len(said.Error.Errors) > 0 {
		reason = said.Error.Errors[0].Reason
	}
	code := fmt.Sprintf("HTTP%d", status)
	if reason != "" && !strings.ContainsAny(reason, " \t") && len(reason) < 60 {
		code = reason
	}
	switch status {
	case http.StatusUnauthorized:
		code = rest.CodeUnauthorized
	case http.StatusForbidden:
		if reason == "" || reason == "forbidden" || reason == "insufficientPermissions" {
			code = codeDenied
		}
	case http.StatusNotFound:
		code = codeNoKey
		if key == "" || strings.Contains(text, "bucket does not exist") {
			code = codeNoBucket
		}
	case http.StatusPreconditionFailed:
		code = codePrecondition
	case http.StatusConflict:
		code = codeConflict
	}
	if text == "" {
		text = http.StatusText(status)
	}
	return &store.Error{Code: code, Message: store.OneLine(text), Status: status}
}
