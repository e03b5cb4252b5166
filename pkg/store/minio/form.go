package minio

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/tags"

	"warp/pkg/store"
	"warp/pkg/store/nethttp"
	"warp/pkg/store/s3"
)

// formValid is how long a signed form is valid.
const formValid = 15 * time.Minute

// Post uploads with an HTML form, as browsers do.
func (e *Engine) Post(ctx context.Context, p store.Put, tr *store.Trace) (store.Object, error) {
	policy, err := newPolicy(&p.Ref)
	if err == nil && p.ContentType != "" {
		err = policy.SetContentType(p.ContentType)
	}
	fields := e.formFields()
	fields["key"] = p.Key
	maps.Copy(fields, values(e.opts.Metadata, s3.MetadataPrefix, p.Key))
	if class := e.opts.StorageClass; class != "" {
		fields[storageClassField] = class
	}
	for _, h := range p.Headers {
		fields[h.Name] = h.Value
	}
	err = errors.Join(err, allow(policy, fields), e.tagForm(policy, p.Key))
	if err != nil {
		return store.Object{}, asError(err, tr)
	}
	resp, err := e.sendForm(ctx, policy, fields, p.Body, p.Size, tr)
	if err != nil {
		return store.Object{}, err
	}
	drop(resp)
	return store.Object{
		Ref:  store.Ref{Bucket: p.Bucket, Key: p.Key, VersionID: resp.Header.Get("X-Amz-Version-Id")},
		ETag: strings.Trim(resp.Header.Get("ETag"), `"`),
		Size: p.Size,
	}, nil
}

// FanOut uploads one body under many names. The answer consists of a JSON document for each, with
// its ETag or its error.
func (e *Engine) FanOut(ctx context.Context, f store.FanOut, tr *store.Trace) ([]store.Object, error) {
	if len(f.Keys) == 0 {
		return nil, store.Errorf(store.CodeBadAnswer, 0, "a fan-out needs at least one name")
	}
	// The form needs a key, but no object gets it.
	policy, err := newPolicy(&store.Ref{Bucket: f.Bucket, Key: f.Keys[0]})
	fields := e.formFields()
	fields["key"] = f.Keys[0]
	if err = errors.Join(err, allow(policy, fields)); err != nil {
		return nil, asError(err, tr)
	}
	fields["x-minio-fanout-list"] = e.fanOutList(f.Keys)
	resp, err := e.sendForm(ctx, policy, fields, f.Body, f.Size, tr)
	if err != nil {
		return nil, err
	}
	defer drop(resp)
	return fannedOut(&f, resp.Body, tr)
}

// fanOutList returns the form's field that lists the objects, with the metadata and tags of each.
func (e *Engine) fanOutList(keys []string) string {
	var b strings.Builder
	list := json.NewEncoder(&b)
	for _, k := range keys {
		_ = list.Encode(struct { // encoding strings into memory cannot fail
			Key      string            `json:"key"`
			Metadata map[string]string `json:"metadata,omitempty"`
			Tags     map[string]string `json:"tags,omitempty"`
		}{k, values(e.opts.Metadata, s3.MetadataPrefix, k), values(e.opts.Tags, "", k)})
	}
	return b.String()
}

const storageClassField = "x-amz-storage-class"

// formFields returns the encryption fields that every form has.
func (e *Engine) formFields() map[string]string {
	fields := map[string]string{}
	if e.sse != nil {
		h := make(http.Header)
		e.sse.Marshal(h)
		for name := range h {
			fields[strings.ToLower(name)] = h.Get(name)
		}
	}
	return fields
}

// allow adds fields to the policy, which has to permit each of them.
func allow(policy *minio.PostPolicy, fields map[string]string) (err error) {
	for name, value := range fields {
		bare, ok := strings.CutPrefix(name, "x-amz-")
		switch {
		case name == "key": // newPolicy sets this field
		case !ok:
			err = errors.Join(err, store.Errorf("InvalidArgument", 0, "a form cannot carry the header %s", name))
		case value == "":
			err = errors.Join(err, store.Errorf("InvalidArgument", 0, "a form cannot carry %s without a value", name))
		default:
			err = errors.Join(err, policy.SetUserData(bare, inJSON(value)))
		}
	}
	return err
}

// tagForm adds the tags of the object called name to a form.
func (e *Engine) tagForm(policy *minio.PostPolicy, name string) error {
	if len(e.opts.Tags) == 0 {
		return nil
	}
	all, err := tags.NewTags(values(e.opts.Tags, "", name), true)
	if err != nil {
		return err
	}
	doc, err := xml.Marshal(all)
	if err != nil {
		return err
	}
	return policy.SetTagging(string(doc)) // tags have no characters that JSON escapes
}

// inJSON escapes s for a JSON string, because minio-go copies it into the policy's JSON unchanged.
func inJSON(s string) string {
	text, _ := json.Marshal(s) // cannot fail for a string
	return string(text[1 : len(text)-1])
}

// fannedOut reads the result for each name.
func fannedOut(f *store.FanOut, body io.Reader, tr *store.Trace) ([]store.Object, error) {
	missing := make(map[string]bool, len(f.Keys))
	for _, k := range f.Keys {
		missing[k] = true
	}
	made := make([]store.Object, 0, len(f.Keys))
	failed, first := 0, ""
	for dec := json.NewDecoder(body); ; {
		var one struct{ Key, ETag, VersionID, Error string }
		err := dec.Decode(&one)
		if err == io.EOF {
			break
		}
		if err != nil {
			return made, store.Errorf(store.CodeBadAnswer, int(tr.Status()), "the answer is not a list of objects: %s", store.OneLine(err.Error()))
		}
		if one.Error != "" {
			if failed++; first == "" {
				first = store.OneLine(one.Error)
			}
			continue
		}
		if missing[one.Key] {
			delete(missing, one.Key)
			made = append(made, store.Object{Ref: store.Ref{Bucket: f.Bucket, Key: one.Key, VersionID: one.VersionID},
				ETag: strings.Trim(one.ETag, `"`), Size: f.Size})
		}
	}
	switch {
	case failed > 0:
		return made, store.Errorf(store.CodePartial, int(tr.Status()), "%d of %d objects not written; first: %s", failed, len(f.Keys), first)
	case len(missing) > 0:
		return made, store.Errorf(store.CodeBadAnswer, int(tr.Status()), "the store confirmed %d of %d objects", len(made), len(f.Keys))
	}
	return made, nil
}

// newPolicy returns a policy that permits one upload under the name of ref.
func newPolicy(ref *store.Ref) (*minio.PostPolicy, error) {
	p := minio.NewPostPolicy()
	return p, errors.Join(p.SetBucket(ref.Bucket), p.SetKey(inJSON(ref.Key)), p.SetExpires(time.Now().Add(formValid)))
}

// sendForm signs policy and posts it with more fields and the payload. It returns the answer to a
// success, with its body unread. Stores reject a form of unknown length, so everything but the
// payload is built first.
func (e *Engine) sendForm(ctx context.Context, policy *minio.PostPolicy, more map[string]string, payload store.Body, size int64, tr *store.Trace) (*http.Response, error) {
	target, fields, err := e.core.Client.PresignedPostPolicy(ctx, policy)
	if err != nil {
		return nil, asError(err, tr)
	}
	maps.Copy(fields, more)
	head, tail, contentType := formAround(fields)
	borrowed := &nethttp.BorrowedBody{Body: payload}
	defer borrowed.Release()
	ctx, seen := nethttp.Watch(ctx, tr)
	defer seen()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), http.NoBody)
	if err != nil {
		return nil, asError(err, tr)
	}
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(head), io.NewSectionReader(borrowed, 0, size), bytes.NewReader(tail))), nil
	}
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(head)) + size + int64(len(tail))
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", e.agent)
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, asError(err, tr)
	}
	if resp.StatusCode/100 != 2 {
		return nil, refusal(resp)
	}
	resp.Body = &nethttp.WatchedBody{ReadCloser: resp.Body, End: seen}
	return resp, nil
}

// formAround returns the form before and after the payload, which must be the last field.
func formAround(fields map[string]string) (head, tail []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b) // writing to memory cannot fail
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	_, _ = w.CreateFormFile("file", "payload")
	at := b.Len()
	_ = w.Close()
	return b.Bytes()[:at:at], b.Bytes()[at:], w.FormDataContentType()
}

// refusal returns the error for an answer other than a success.
func refusal(resp *http.Response) error {
	defer drop(resp)
	doc, _ := io.ReadAll(io.LimitReader(resp.Body, s3.MaxErrorDocument)) // reads as much as there is
	refused := minio.ErrorResponse{}
	if xml.Unmarshal(doc, &refused) != nil {
		refused = minio.ErrorResponse{Message: http.StatusText(resp.StatusCode)}
	}
	refused.StatusCode = resp.StatusCode
	return s3.ResponseError(refused, resp.StatusCode)
}

// drop reads the rest of an answer, so that its connection can be reused.
func drop(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, s3.MaxErrorDocument))
	resp.Body.Close()
}
