package s3

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
)

// formValid is for how long a signed form may be sent.
const formValid = 15 * time.Minute

// Post uploads as a browser's form does.
func (e *minioEngine) Post(ctx context.Context, p Put, tr *Trace) (Object, error) {
	policy, err := newPolicy(&p.Ref)
	if err == nil && p.ContentType != "" {
		err = policy.SetContentType(p.ContentType)
	}
	for _, h := range p.Headers {
		name, ok := strings.CutPrefix(h.Name, "x-amz-")
		if !ok {
			err = errors.Join(err, errorf("InvalidArgument", 0, "a form cannot carry the header %s", h.Name))
			continue
		}
		err = errors.Join(err, policy.SetUserData(name, h.Value))
	}
	if err != nil {
		return Object{}, asError(err, tr)
	}
	resp, err := e.sendForm(ctx, policy, map[string]string{"key": p.Key}, p.Body, p.Size, tr)
	if err != nil {
		return Object{}, err
	}
	drop(resp)
	return Object{
		Ref:  Ref{Bucket: p.Bucket, Key: p.Key, VersionID: resp.Header.Get("X-Amz-Version-Id")},
		ETag: strings.Trim(resp.Header.Get("ETag"), `"`),
		Size: p.Size,
	}, nil
}

// FanOut uploads one body under many names. The answer names each of them with
// its ETag or its error, one JSON document after the other.
func (e *minioEngine) FanOut(ctx context.Context, f FanOut, tr *Trace) ([]Object, error) {
	if len(f.Keys) == 0 {
		return nil, errorf(CodeBadAnswer, 0, "a fan-out needs at least one name")
	}
	// The form's own key is that of no object, but has to be there.
	policy, err := newPolicy(&Ref{Bucket: f.Bucket, Key: f.Keys[0]})
	if err != nil {
		return nil, asError(err, tr)
	}
	resp, err := e.sendForm(ctx, policy, map[string]string{"key": f.Keys[0], "x-minio-fanout-list": fanOutList(f.Keys)}, f.Body, f.Size, tr)
	if err != nil {
		return nil, err
	}
	defer drop(resp)
	return fannedOut(&f, resp.Body, tr)
}

// fanOutList is the form's field that names the objects.
func fanOutList(keys []string) string {
	var b strings.Builder
	for _, k := range keys {
		name, _ := json.Marshal(k) // a string always can be
		b.WriteString(`{"key":`)
		b.Write(name)
		b.WriteString("}\n")
	}
	return b.String()
}

// fannedOut reads what became of each name.
func fannedOut(f *FanOut, body io.Reader, tr *Trace) ([]Object, error) {
	missing := make(map[string]bool, len(f.Keys))
	for _, k := range f.Keys {
		missing[k] = true
	}
	made := make([]Object, 0, len(f.Keys))
	failed, first := 0, ""
	for dec := json.NewDecoder(body); ; {
		var one struct{ Key, ETag, VersionID, Error string }
		err := dec.Decode(&one)
		if err == io.EOF {
			break
		}
		if err != nil {
			return made, errorf(CodeBadAnswer, int(tr.Status()), "the answer is no list of objects: %s", oneLine(err.Error()))
		}
		if one.Error != "" {
			if failed++; first == "" {
				first = oneLine(one.Error)
			}
			continue
		}
		if missing[one.Key] {
			delete(missing, one.Key)
			made = append(made, Object{Ref: Ref{Bucket: f.Bucket, Key: one.Key, VersionID: one.VersionID},
				ETag: strings.Trim(one.ETag, `"`), Size: f.Size})
		}
	}
	switch {
	case failed > 0:
		return made, errorf(CodePartial, int(tr.Status()), "%d of %d objects not written; first: %s", failed, len(f.Keys), first)
	case len(missing) > 0:
		return made, errorf(CodeBadAnswer, int(tr.Status()), "the store confirmed %d of %d objects", len(made), len(f.Keys))
	}
	return made, nil
}

// newPolicy allows one upload under the name of ref. minio-go puts the name
// into the policy's JSON as it is, so it is escaped before.
func newPolicy(ref *Ref) (*minio.PostPolicy, error) {
	p := minio.NewPostPolicy()
	key, _ := json.Marshal(ref.Key) // a string always can be
	return p, errors.Join(p.SetBucket(ref.Bucket), p.SetKey(string(key[1:len(key)-1])), p.SetExpires(time.Now().Add(formValid)))
}

// sendForm signs policy, and posts it with more fields and the payload. The answer is one of
// success; its body is still to be read. Stores refuse a form of unknown
// length, so all but the payload is made before.
func (e *minioEngine) sendForm(ctx context.Context, policy *minio.PostPolicy, more map[string]string, payload Body, size int64, tr *Trace) (*http.Response, error) {
	target, fields, err := e.core.Client.PresignedPostPolicy(ctx, policy)
	if err != nil {
		return nil, asError(err, tr)
	}
	maps.Copy(fields, more)
	head, tail, contentType := formAround(fields)
	lent := &lentBody{body: payload}
	defer lent.takeBack()
	ctx, seen := watch(ctx, tr)
	defer seen()
	body := io.MultiReader(bytes.NewReader(head), io.LimitReader(lent, size), bytes.NewReader(tail))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), body)
	if err != nil {
		return nil, asError(err, tr)
	}
	req.ContentLength = int64(len(head)) + size + int64(len(tail))
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", e.agent)
	resp, err := e.transport.RoundTrip(req)
	if err != nil {
		return nil, asError(err, tr)
	}
	if resp.StatusCode/100 != 2 {
		return nil, refusedForm(resp)
	}
	return resp, nil
}

// formAround is what stands before and after the payload, which has to be the
// form's last field.
func formAround(fields map[string]string) (head, tail []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b) // to memory, where nothing can fail
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	_, _ = w.CreateFormFile("file", "payload")
	at := b.Len()
	_ = w.Close()
	return b.Bytes()[:at:at], b.Bytes()[at:], w.FormDataContentType()
}

// refusedForm turns an answer that is none of success into an error.
func refusedForm(resp *http.Response) error {
	defer drop(resp)
	doc, _ := io.ReadAll(io.LimitReader(resp.Body, leanKeepMost)) // what there is of it
	refused := minio.ErrorResponse{}
	if xml.Unmarshal(doc, &refused) != nil {
		refused = minio.ErrorResponse{Message: http.StatusText(resp.StatusCode)}
	}
	refused.StatusCode = resp.StatusCode
	return fromResponse(refused, resp.StatusCode)
}

// drop reads what is left of an answer, so that its connection can be used again.
func drop(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, leanKeepMost))
	resp.Body.Close()
}
