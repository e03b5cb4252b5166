package accesslog

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"warp/pkg/workload"
)

// apis returns the names in audit logs.
func apis() map[string]workload.Op {
	return map[string]workload.Op{
		"GetObject": workload.Get, "HeadObject": workload.Stat, "PutObject": workload.Put, "PostPolicyBucket": workload.Put,
		"PutObjectPart": workload.PutPart, "UploadPart": workload.PutPart, "CompleteMultipartUpload": workload.Upload,
		"CopyObject": workload.Copy, "CopyObjectPart": workload.CopyPart, "UploadPartCopy": workload.CopyPart,
		"DeleteObject": workload.Delete, "DeleteMultipleObjects": workload.Delete, "DeleteObjects": workload.Delete,
		"ListObjectsV1": workload.List, "ListObjects": workload.List, "ListObjectsV2": workload.List, "ListObjectsV2M": workload.List,
		"ListObjectVersions": workload.List, "ListObjectVersionsM": workload.List,
		"GetObjectTagging": workload.GetTags, "PutObjectTagging": workload.PutTags, "DeleteObjectTagging": workload.DeleteTags,
		"PutObjectRetention": workload.Retention,
	}
}

// A call has the fields of api that the audit logs of MinIO and RustFS share.
type call struct {
	Name    string `json:"name"`
	Bucket  string `json:"bucket"`
	Object  string `json:"object"`
	Objects []struct {
		Name string `json:"objectName"`
	} `json:"objects"`
	Received integer `json:"rx"`
	Sent     integer `json:"tx"`
}

// operation fills in the operation, its status and its object.
func (c *call) operation(known map[string]workload.Op, status integer, r *workload.Request) {
	op, ok := known[strings.TrimPrefix(c.Name, "s3:")]
	if !ok {
		op = workload.Other
	}
	r.Op, r.Status, r.Failed = op, int(status), failed(int(status))
	if c.Object != "" {
		r.Object = workload.HashObject(c.Bucket, c.Object)
	}
}

// objects fills in the objects of a request for several, and returns the others in memory that it may use.
func (c *call) objects(r *workload.Request, others []uint64) []uint64 {
	others = others[:0]
	for i, o := range c.Objects {
		if hash := workload.HashObject(c.Bucket, o.Name); i == 0 && r.Object == 0 {
			r.Object = hash
		} else if hash != r.Object {
			others = append(others, hash)
		}
	}
	r.Objects = max(len(c.Objects), 1)
	return others
}

// upload fills in the size of an upload.
func (c *call) upload(request headers, r *workload.Request) {
	r.Bytes = max(int64(c.Received), 0)
	// What was received may be in chunks with signatures between them.
	for _, name := range []string{"X-Amz-Decoded-Content-Length", "Content-Length"} {
		if n, ok := request.size(name); ok {
			r.Bytes = n
			break
		}
	}
	if r.Op == workload.Put {
		r.Size = r.Bytes
	}
}

// An auditRecord has the fields of a line that matter.
type auditRecord struct {
	Time    string `json:"time"`
	Trigger string `json:"trigger"`
	API     *struct {
		call
		Status integer `json:"statusCode"`
		Took   integer `json:"timeToResponseInNS"`
	} `json:"api"`
	Request headers `json:"requestHeader"`
	Answer  headers `json:"responseHeader"`
}

// headers are the headers of a request or an answer.
type headers map[string]any

// get returns a header. name is in its canonical form.
func (h headers) get(name string) string {
	for _, key := range []string{name, strings.ToLower(name)} {
		if text, ok := h[key].(string); ok {
			return text
		}
	}
	return ""
}

// size returns a header that is a size.
func (h headers) size(name string) (int64, bool) {
	n, err := strconv.ParseUint(h.get(name), 10, 63)
	return int64(n), err == nil
}

// newAuditFormat returns the format of the audit logs of MinIO.
func newAuditFormat() format {
	known := apis()
	var others []uint64
	return format{name: formatAudit, resolution: 1e-9, objects: func() []uint64 { return others }, parse: func(line []byte, r *workload.Request) error {
		others = others[:0] // also of a line that is left out
		var record auditRecord
		if err := json.Unmarshal(line, &record); err != nil {
			return errJSON
		}
		if record.API == nil || record.Time == "" {
			return errors.New("there is no time or api")
		}
		end, err := time.Parse(time.RFC3339Nano, record.Time)
		if err != nil {
			return errors.New("the time is not as in 2026-01-31T12:00:00.000000000Z")
		}
		a := record.API
		if a.Took < 0 || a.Status < 0 || a.Status > 999 {
			return errors.New("the status or timeToResponseInNS is impossible")
		}
		if record.Trigger != "" && record.Trigger != "incoming" || a.Name == "" || a.Name == "NewMultipartUpload" || a.Name == "CreateMultipartUpload" {
			return errLeftOut
		}
		at, err := nanoseconds(end)
		if err != nil {
			return err
		}
		record.request(known, r)
		r.Start = at - int64(a.Took)
		others = a.objects(r, others)
		return nil
	}}
}

// request fills in what the record says, apart from the time and several objects.
func (x *auditRecord) request(known map[string]workload.Op, r *workload.Request) {
	a := x.API
	a.operation(known, a.Status, r)
	switch r.Op {
	case workload.Get:
		var ok bool
		if r.Bytes, ok = x.Answer.size("Content-Length"); !ok {
			r.Bytes = max(int64(a.Sent), 0)
		}
		r.Size = r.Bytes
		switch {
		case a.Status == 304: // the client has the object already
			r.Op, r.Bytes, r.Size = workload.Stat, 0, 0
		case a.Status == 206:
			r.Range, r.Size = true, wholeSize(x.Answer.get("Content-Range"))
		}
	case workload.Put, workload.PutPart:
		a.upload(x.Request, r)
	}
}

// wholeSize returns the size of the object from a header such as "bytes 0-9/100", 0 if it does not say.
func wholeSize(contentRange string) int64 {
	_, text, _ := strings.Cut(contentRange, "/")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n == math.MaxInt64 {
		return 0
	}
	return n
}
