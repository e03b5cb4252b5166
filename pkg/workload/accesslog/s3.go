package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"warp/pkg/workload"
)

// An entry has the fields of a server access log that matter, in either form of it.
type entry struct {
	bucket, operation, key string
	status                 int   // 0 = unknown
	sent, size             int64 // bytes; 0 = unknown, or none
}

// operations returns the operations of access logs. Those that begin with "-" belong to the request of another line.
func operations() map[string]workload.Op {
	return map[string]workload.Op{
		"REST.GET.OBJECT": workload.Get, "WEBSITE.GET.OBJECT": workload.Get, "REST.HEAD.OBJECT": workload.Stat, "WEBSITE.HEAD.OBJECT": workload.Stat,
		"REST.PUT.OBJECT": workload.Put, "REST.POST.OBJECT": workload.Put, "REST.COPY.OBJECT": workload.Copy,
		"REST.PUT.PART": workload.PutPart, "REST.COPY.PART": workload.CopyPart, "REST.POST.UPLOAD": workload.Upload,
		"REST.DELETE.OBJECT": workload.Delete, "REST.POST.MULTI_OBJECT_DELETE": workload.Delete, batchDelete: workload.Delete,
		"REST.GET.BUCKET": workload.List, "REST.GET.BUCKETVERSIONS": workload.List,
		"REST.GET.OBJECT_TAGGING": workload.GetTags, "REST.PUT.OBJECT_TAGGING": workload.PutTags, "REST.DELETE.OBJECT_TAGGING": workload.DeleteTags,
		"REST.PUT.OBJECT_RETENTION": workload.Retention,
	}
}

// batchDelete is one object of a request that deletes several.
const batchDelete = "BATCH.DELETE.OBJECT"

// accompanying reports whether an operation is a part of a request that has a line of its own: the start of an upload in parts,
// and the source of a copy.
func accompanying(operation string) bool {
	return operation == "REST.POST.UPLOADS" || operation == "REST.COPY.OBJECT_GET" || operation == "REST.COPY.PART_GET"
}

// request makes a request of the fields.
func (e *entry) request(known map[string]workload.Op, r *workload.Request) error {
	if accompanying(e.operation) || strings.HasPrefix(e.operation, "S3.") { // these are by S3 itself
		return errLeftOut
	}
	op, ok := known[e.operation]
	if !ok {
		op = workload.Other
	}
	r.Op, r.Size, r.Status = op, e.size, e.status
	r.Failed = failed(e.status)
	if e.key != "" {
		r.Object = workload.HashObject(e.bucket, decoded(e.key))
	}
	switch op {
	case workload.Get:
		r.Bytes = e.sent
		if e.status == 304 { // the client has the object already
			r.Op, r.Bytes = workload.Stat, 0
		}
		r.Range = e.size > 0 && e.sent < e.size || e.size == 0 && e.status == 206
	case workload.Put, workload.PutPart, workload.Copy, workload.CopyPart, workload.Upload:
		r.Bytes = e.size
	}
	if op == workload.PutPart || op == workload.CopyPart {
		r.Size = 0 // of the part, not of the object
	}
	if e.operation == "REST.POST.MULTI_OBJECT_DELETE" {
		r.Objects = 0 // they have lines
	}
	r.Step = e.operation == batchDelete
	return nil
}

// failed reports whether a status means an error. "Not modified" is not an error: the client asked whether the object has changed.
func failed(status int) bool { return status < 200 || status >= 300 && status != 304 }

// decoded returns a key without the encoding of URLs, which some operations have twice.
func decoded(key string) string {
	for range 2 {
		if !strings.Contains(key, "%") {
			break
		}
		text, err := url.PathUnescape(key)
		if err != nil {
			break
		}
		key = text
	}
	return key
}

// newTextFormat returns the format of server access logs in buckets.
func newTextFormat() format {
	known := operations()
	return format{name: formatText, resolution: 1, parse: func(line []byte, r *workload.Request) error {
		e, at, err := parseText(line)
		if err != nil {
			return err
		}
		r.Start = at
		return e.request(known, r)
	}}
}

// parseText parses a line: owner, bucket, [time], address, requester, request ID, operation, key, "request", status, error
// code, bytes sent, object size, and fields that do not matter.
func parseText(line []byte) (e entry, start int64, err error) {
	rest := line
	_, rest, _ = bytes.Cut(rest, []byte(" "))
	bucket, rest, _ := bytes.Cut(rest, []byte(" ["))
	stamp, rest, ok := bytes.Cut(rest, []byte("] "))
	if !ok || len(bucket) == 0 || bytes.ContainsAny(bucket, " \"") {
		return e, 0, errors.New("there is no [time] after owner and bucket")
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(stamp))
	if err != nil {
		return e, 0, errors.New("the time is not as in 06/Feb/2019:00:00:38 +0000")
	}
	before, rest, ok := bytes.Cut(rest, []byte(` "`))
	fields := bytes.Split(before, []byte(" "))
	switch {
	case len(fields) == 5:
	case len(fields) > 5 && (!ok || string(fields[5]) == "-"): // there is no request, but "-"
		rest = bytes.Join(fields[5:], []byte(" "))
	default:
		return e, 0, errors.New("there are no five fields between time and request")
	}
	e = entry{bucket: string(bucket), operation: string(fields[3])}
	if key := string(fields[4]); key != "-" {
		e.key = key
	}
	if !e.parseAnswer(rest) {
		return e, 0, errors.New("there are no status, error code and sizes after the request")
	}
	start, err = nanoseconds(at)
	return e, start, err
}

// parseAnswer parses what follows the start of the request. The request may contain quotes, which are not escaped. So the quote
// that ends it is the first one with status, error code and two sizes after it.
func (e *entry) parseAnswer(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, []byte("- ")); ok && e.parseNumbers(rest) {
		return true
	}
	for {
		_, rest, ok := bytes.Cut(text, []byte(`" `))
		if !ok {
			return false
		}
		if e.parseNumbers(rest) {
			return true
		}
		text = rest
	}
}

func (e *entry) parseNumbers(text []byte) bool {
	fields := bytes.SplitN(text, []byte(" "), 5)
	if len(fields) < 4 {
		return false
	}
	status, ok := number(fields[0])
	sent, ok2 := number(fields[2])
	size, ok3 := number(fields[3])
	if !ok || !ok2 || !ok3 || status > 999 {
		return false
	}
	e.status, e.sent, e.size = int(status), sent, size
	return true
}

// number parses a number, or "-", which is 0.
func number(text []byte) (int64, bool) {
	if string(text) == "-" {
		return 0, true
	}
	n, err := strconv.ParseUint(string(text), 10, 63)
	return int64(n), err == nil
}

// newCloudWatchFormat returns the format of server access logs that CloudWatch delivers.
func newCloudWatchFormat() format {
	known := operations()
	return format{name: formatJSON, resolution: .001, parse: func(line []byte, r *workload.Request) error {
		// An export to a bucket has the time before each record.
		if stamp, rest, ok := bytes.Cut(line, []byte(" {")); ok && len(stamp) < 40 {
			if _, err := time.Parse(time.RFC3339Nano, string(stamp)); err == nil {
				line = line[len(line)-len(rest)-1:]
			}
		}
		var record struct {
			Schema    *string `json:"schema_version_id"`
			Bucket    *string `json:"bucket_name"`
			Time      *string `json:"request_time"`
			Operation *string `json:"operation"`
			Key       *string `json:"key_name"`
			Status    integer `json:"http_status"`
			Sent      integer `json:"bytes_sent"`
			Size      integer `json:"object_size"`
		}
		if err := json.Unmarshal(line, &record); err != nil {
			return errJSON
		}
		if record.Time == nil || record.Schema == nil && record.Bucket == nil {
			return errors.New("there is no request_time, schema_version_id or bucket_name")
		}
		at, err := time.Parse(time.RFC3339Nano, *record.Time)
		if err != nil {
			return errors.New("request_time is not as in 2026-01-31T12:00:00.000Z")
		}
		if record.Status < 0 || record.Status > 999 || record.Sent < 0 || record.Size < 0 {
			return errors.New("the status or a size is impossible")
		}
		text := func(s *string) string {
			if s == nil || *s == "-" {
				return ""
			}
			return *s
		}
		e := entry{bucket: text(record.Bucket), operation: text(record.Operation), key: text(record.Key),
			status: int(record.Status), sent: int64(record.Sent), size: int64(record.Size)}
		if r.Start, err = nanoseconds(at); err != nil {
			return err
		}
		return e.request(known, r)
	}}
}

// errJSON is the error of a line that is not the JSON object that it should be. The parser's error might quote the line.
var errJSON = errors.New("it is not a JSON object with the fields of the format")

// An integer is a number in JSON, also as a string; null and "-" are 0.
type integer int64

// UnmarshalJSON parses the number.
func (n *integer) UnmarshalJSON(b []byte) error {
	text := bytes.Trim(b, `"`)
	if string(text) == "null" || len(text) == 0 || string(text) == "-" {
		*n = 0
		return nil
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return errors.New("not a number")
	}
	*n = integer(v)
	return nil
}
