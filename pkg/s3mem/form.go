package s3mem

import (
	"bytes"
	"crypto/md5"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// maxField is the max length of a field of a form, in bytes. Policies are the longest.
const maxField = 64 << 10

// isForm reports whether a request is an upload as browsers send it.
func isForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Method == http.MethodPost && kind == "multipart/form-data" && r.URL.RawQuery == ""
}

// form answers POST Object. gofakes3's needs temporary files, and ignores fields that it does not know. As everywhere
// in this store, any policy and any signature are valid. The size is the length of the whole form.
func (e *Embedded) form(w http.ResponseWriter, r *http.Request, size int64) error {
	name, _ := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	o := &object{modified: time.Now()}
	meta := make(map[string]string)
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return &refusal{http.StatusBadRequest, "InvalidArgument", "POST requires exactly one file upload per request."}
		}
		if err != nil {
			return incomplete(err)
		}
		if strings.EqualFold(part.FormName(), "file") {
			if err := o.readFile(part, size); err != nil {
				return err
			}
			break
		}
		if err := o.addField(part, meta); err != nil {
			return err
		}
	}
	if o.key == "" {
		return &refusal{http.StatusBadRequest, "InvalidArgument", "Bucket POST must contain a field named 'key'."}
	}
	o.meta = keptMeta(meta)
	if err := e.backend.store(bk, o, nil); err != nil {
		return err
	}
	if v := o.version(); v != "" {
		w.Header().Set(versionHeader, string(v))
	}
	w.Header().Set("Etag", o.etag())
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readFile reads the payload of a form of a size.
func (o *object) readFile(part *multipart.Part, size int64) error {
	body := make([]byte, size) // a little too long, which the memory limit counts
	n, err := io.ReadFull(part, body)
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return errors.Join(err, errors.New("the file of the form does not end"))
	}
	o.parts, o.size, o.md5 = [][]byte{body[:n]}, int64(n), md5.Sum(body[:n])
	return nil
}

// addField adds a field of a form to the object and its metadata.
func (o *object) addField(part *multipart.Part, meta map[string]string) error {
	text, err := io.ReadAll(io.LimitReader(part, maxField))
	if err != nil {
		return incomplete(err)
	}
	value := string(text)
	switch name := textproto.CanonicalMIMEHeaderKey(part.FormName()); {
	case name == "Key":
		o.key = value
	case name == "Tagging":
		tags, err := readTags(bytes.NewReader(text))
		if err != nil {
			return err
		}
		*o = *o.with(func(x *extra) { x.tags = tags })
		return checkTags(tags)
	case name == "Policy", name == "Bucket", name == "X-Amz-Algorithm", name == "X-Amz-Credential", name == "X-Amz-Signature":
	case strings.HasPrefix(name, "Content-"):
		meta[name] = value
	case unsupportedHeader(name, value), !strings.HasPrefix(name, "X-Amz-"):
		return &refusal{http.StatusNotImplemented, "NotImplemented", "The embedded store does not support the field " + part.FormName() + "."}
	default:
		meta[name] = value
	}
	return nil
}
