package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"warp/pkg/store"
	"warp/pkg/store/lean"
)

// A Request is a request being built. Its memory is reused.
type Request struct {
	lean.Call
	OnHead func(*Reply) // called before the payload of a download arrives; may be nil

	target []byte
}

var requests = sync.Pool{New: func() any { return &Request{target: make([]byte, 0, 512)} }}

// NewRequest returns a request of the method whose target begins with path. End has to follow.
func NewRequest(method, path string) *Request {
	r := requests.Get().(*Request)
	r.Call = lean.Call{Method: method}
	r.target = append(r.target[:0], path...)
	return r
}

// End releases the memory.
func (r *Request) End() {
	r.Call, r.OnHead = lean.Call{}, nil
	requests.Put(r)
}

// Send sends the request and receives the answer, whatever its status.
func (r *Request) Send(ctx context.Context, c Caller, tr *store.Trace) (Reply, error) {
	r.Call.Target = r.target
	return c.Do(ctx, &r.Call, r.OnHead, tr)
}

// Raw appends text to the target that is already escaped.
func (r *Request) Raw(text string) { r.target = append(r.target, text...) }

// Segment appends a slash and one part of a path.
func (r *Request) Segment(text string) {
	r.target = lean.AppendEscaped(append(r.target, '/'), text)
}

// Path appends a slash and a path, without escaping the slashes in it.
func (r *Request) Path(text string) {
	r.target = lean.AppendPath(append(r.target, '/'), text)
}

// Param appends a parameter, after a question mark if it is the first.
func (r *Request) Param(name, value string) {
	separator := byte('&')
	if bytes.IndexByte(r.target, '?') < 0 {
		separator = '?'
	}
	r.target = append(append(append(r.target, separator), name...), '=')
	r.target = lean.AppendEscaped(r.target, value)
}

// Document makes data the body.
func (r *Request) Document(contentType string, data []byte) {
	r.ContentType, r.Body, r.Size = contentType, bytes.NewReader(data), int64(len(data))
}

// JSON sets the body to v, which must be of a type that always encodes to JSON.
func (r *Request) JSON(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("rest: no JSON of a document: " + err.Error())
	}
	r.Document("application/json", data)
}
