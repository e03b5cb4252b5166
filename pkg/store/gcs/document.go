package gcs

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
)

// objectFields are the fields of an object's resource that warp asks for.
const objectFields = "name,generation,size,md5Hash,crc32c,updated"

// A resource is an object's resource in the API.
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
	Key          string            `json:"kmsKeyName"` // the key that encrypts the object
}

// object converts the resource to a [store.Object]. It sets the version only if version is set.
func (r *resource) object(bucket string, version bool, status int) (store.Object, error) {
	o := store.Object{Ref: store.Ref{Bucket: bucket, Key: r.Name}, ETag: etagOf(r.MD5, r.CRC32C), LastModified: r.Updated, HasMetadata: len(r.Metadata) > 0}
	o.Generation, _ = strconv.ParseInt(r.Generation, 10, 64)
	if version {
		o.VersionID = r.Generation
	}
	var err error
	if o.Size, err = strconv.ParseInt(r.Size, 10, 64); err != nil || o.Size < 0 {
		return o, badSize(r.Name, r.Size, status)
	}
	return o, nil
}

// summaryFields are the fields of a summary.
const summaryFields = "generation,size,md5Hash,crc32c,updated"

// A summary contains the fields of a resource that frequent requests need. Parsing it with
// encoding/json would take a third of the CPU time of such a request.
type summary struct{ generation, size, md5, crc, updated []byte }

func (s *summary) field(name []byte) *[]byte {
	switch string(name) {
	case "generation":
		return &s.generation
	case "size":
		return &s.size
	case "md5Hash":
		return &s.md5
	case "crc32c":
		return &s.crc
	case "updated":
		return &s.updated
	}
	return nil
}

// scan parses a document. It returns false unless the document is an object with the fields of a
// summary whose values are strings without escapes. Then encoding/json has to parse it.
func (s *summary) scan(doc []byte) bool {
	rest, ok := token(doc, '{')
	for ok {
		var name, value []byte
		if name, rest, ok = plainString(rest); !ok {
			return false
		}
		field := s.field(name)
		if rest, ok = token(rest, ':'); !ok || field == nil {
			return false
		}
		if value, rest, ok = plainString(rest); !ok {
			return false
		}
		*field = value
		if end, last := token(rest, '}'); last {
			return len(skipSpace(end)) == 0
		}
		rest, ok = token(rest, ',')
	}
	return false
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// token skips c and the space before it.
func token(b []byte, c byte) (rest []byte, ok bool) {
	b = skipSpace(b)
	if len(b) == 0 || b[0] != c {
		return b, false
	}
	return b[1:], true
}

// plainString parses a string of ASCII characters without escapes.
func plainString(b []byte) (text, rest []byte, ok bool) {
	b, ok = token(b, '"')
	if !ok {
		return nil, b, false
	}
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i], b[i+1:], true
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			return nil, b, false
		}
	}
	return nil, b, false
}

// object converts the summary to a [store.Object]. It sets the version only if version is set.
func (s *summary) object(ref store.Ref, version bool, expectedETag string, status int) (store.Object, error) {
	o := store.Object{Ref: store.Ref{Bucket: ref.Bucket, Key: ref.Key}, ETag: etagOfHashes(s.md5, s.crc, expectedETag)}
	o.Generation, _ = strconv.ParseInt(string(s.generation), 10, 64)
	if version {
		o.VersionID = string(s.generation)
	}
	var err error
	if o.Size, err = strconv.ParseInt(string(s.size), 10, 64); err != nil || o.Size < 0 {
		return o, badSize(ref.Key, string(s.size), status)
	}
	if s.updated != nil && o.LastModified.UnmarshalText(s.updated) != nil {
		return o, store.BadAnswer(status, "object %.60q was updated at %.40q", ref.Key, s.updated)
	}
	return o, nil
}

func badSize(key, size string, status int) *store.Error {
	return store.BadAnswer(status, "the size of object %.60q is %.40q", key, size)
}

// readObject returns the object in an answer.
func readObject(r *httpclient.Reply, ref store.Ref, version bool, expectedETag string) (store.Object, error) {
	var s summary
	if s.scan(r.Document()) {
		return s.object(ref, version, expectedETag, r.Status)
	}
	var all resource
	if err := r.DecodeJSON("an object", &all); err != nil {
		return store.Object{}, err
	}
	all.Name = ref.Key
	return all.object(ref.Bucket, version, r.Status)
}

// etagOf returns the MD5 in hexadecimal digits, as in the XML API, or the CRC32C of an object that
// was composed.
func etagOf(md5, crc string) string {
	if raw, err := base64.StdEncoding.DecodeString(md5); err == nil && len(raw) == 16 {
		return hex.EncodeToString(raw)
	}
	if crc != "" {
		return "crc32c-" + crc
	}
	return ""
}

// etagOfHashes is etagOf. It does not allocate if the ETag is the expected one.
func etagOfHashes(md5, crc []byte, expected string) string {
	var room [32]byte
	switch hex := appendHex(room[:0], md5); {
	case len(hex) == 0:
		return etagOf("", string(crc))
	case string(hex) == expected:
		return expected
	default:
		return string(hex)
	}
}

// appendHex appends the 16 bytes of the base64 text b64 in hexadecimal digits, or nothing if it is
// invalid.
func appendHex(dst, b64 []byte) []byte {
	const digits = "0123456789abcdef"
	var raw [18]byte
	if len(b64) != 24 {
		return dst
	}
	if n, err := base64.StdEncoding.Decode(raw[:], b64); err != nil || n != 16 {
		return dst
	}
	for _, b := range raw[:16] {
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

// refusal turns an answer other than a success into an error.
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
		code = store.CodeUnauthorized
	case http.StatusForbidden:
		if reason == "" || reason == "forbidden" || reason == "insufficientPermissions" {
			code = store.CodeDenied
		}
	case http.StatusNotFound:
		code = store.CodeNoKey
		if key == "" || strings.Contains(text, "bucket does not exist") {
			code = store.CodeNoBucket
		}
	case http.StatusPreconditionFailed:
		code = store.CodePrecondition
	case http.StatusConflict:
		code = store.CodeConflict
	}
	return store.Refusal(status, code, text)
}

// redirected returns the error for a redirect, because no other host may get the token. The message
// shows only the host of the address.
func redirected(r *httpclient.Reply) *store.Error {
	to := "another address"
	if u, err := url.Parse(r.Location()); err == nil && u.Host != "" {
		to = store.OneLine(u.Host)
	}
	return store.Errorf(store.CodeRedirect, r.Status, "the store redirects to %s, and warp follows redirects of S3 only", to)
}
