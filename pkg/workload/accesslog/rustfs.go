package accesslog

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"warp/pkg/workload"
)

// A rustRecord has the fields of RustFS that matter. They differ from MinIO's: the time is the start of the request in
// milliseconds, the trigger is the operation, and requestQuery has the headers of the request.
type rustRecord struct {
	Time integer `json:"time"`
	API  *struct {
		call
		Status integer `json:"status_code"`
	} `json:"api"`
	Request headers `json:"requestQuery"`
	Answer  headers `json:"responseHeader"`
}

// newRustFormat returns the format of the audit logs of RustFS. Its webhook sends each record in a document of its own.
func newRustFormat() format {
	known := apis()
	var others []uint64
	return format{name: formatRust, resolution: 1e-3, objects: func() []uint64 { return others }, parse: func(line []byte, r *workload.Request) error {
		others = others[:0]
		var document struct {
			rustRecord
			Records []rustRecord `json:"Records"`
		}
		if err := json.Unmarshal(line, &document); err != nil {
			return errJSON
		}
		record := document.rustRecord
		switch len(document.Records) {
		case 0:
		case 1:
			record = document.Records[0]
		default:
			return errors.New("there are several records in a line")
		}
		if record.API == nil || record.Time == 0 {
			return errors.New("there is no time or api")
		}
		a := record.API
		if a.Status < 0 || a.Status > 999 {
			return errors.New("the status is impossible")
		}
		if name := strings.TrimPrefix(a.Name, "s3:"); name == "" || name == "CreateMultipartUpload" {
			return errLeftOut
		}
		at, err := nanoseconds(time.UnixMilli(int64(record.Time)))
		if err != nil {
			return err
		}
		r.Start = at
		record.request(known, r)
		others = a.objects(r, others)
		return nil
	}}
}

// request fills in what the record says, apart from the time and several objects.
func (x *rustRecord) request(known map[string]workload.Op, r *workload.Request) {
	x.API.operation(known, x.API.Status, r)
	switch r.Op {
	case workload.Get:
		x.download(r)
	case workload.Put, workload.PutPart:
		x.API.upload(x.Request, r)
	}
}

// download fills in the size of a download. Most records do not have it, and a range has the status of a whole object.
func (x *rustRecord) download(r *workload.Request) {
	if x.API.Status == 304 { // the client has the object already
		r.Op = workload.Stat
		return
	}
	length, ok := x.Answer.size("Content-Length")
	if !ok {
		length, ok = max(int64(x.API.Sent), 0), x.API.Sent > 0
	}
	if from, to, is := requestedRange(x.Request.get("Range")); is {
		r.Range, r.Size = true, wholeSize(x.Answer.get("Content-Range"))
		if !ok && to >= from {
			length, ok = to-from+1, true
		}
	} else {
		r.Size = length
	}
	r.Bytes, r.Unsized = length, !ok
}

// requestedRange parses a header such as "bytes=0-9"; to is -1 in "bytes=5-". A suffix such as "bytes=-5" is its first 5 bytes, because
// only the length counts.
func requestedRange(header string) (from, to int64, ok bool) {
	text, is := strings.CutPrefix(header, "bytes=")
	first, last, two := strings.Cut(text, "-")
	if !is || !two {
		return 0, 0, false
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 62)
		if err != nil || n < 0 {
			return -1
		}
		return n
	}
	if first == "" {
		return 0, number(last) - 1, true
	}
	return number(first), number(last), number(first) >= 0
}
