package s3mem

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxTags is S3's limit for an object.
const maxTags = 10

// tagDocument is the document of PutObjectTagging and GetObjectTagging.
type tagDocument struct {
	XMLName xml.Name `xml:"Tagging"`
	Xmlns   string   `xml:"xmlns,attr,omitempty"`
	Tags    []tag    `xml:"TagSet>Tag"`
}

type tag struct{ Key, Value string }

// bucketTagging answers PUT, GET and DELETE of a bucket's tags.
func (e *Embedded) bucketTagging(w http.ResponseWriter, r *http.Request) error {
	name, _ := split(r)
	bk, err := e.backend.bucket(name)
	if err != nil {
		return err
	}
	bk.mu.Lock()
	defer bk.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		if len(bk.tags) == 0 {
			return &refusal{http.StatusNotFound, "NoSuchTagSet", "The bucket has no tags."}
		}
		return respond(w, tagDocument{Xmlns: namespace, Tags: bk.tags})
	case http.MethodPut:
		tags, err := readTags(r.Body)
		if err != nil {
			return err
		}
		bk.tags = tags
	default:
		bk.tags = nil
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// tagging answers PUT, GET and DELETE of an object's tags.
func (e *Embedded) tagging(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet {
		o, err := e.backend.lookupVersion(target(r))
		if err != nil {
			return err
		}
		return respond(w, tagDocument{Xmlns: namespace, Tags: o.tags()})
	}
	var tags []tag
	if r.Method == http.MethodPut {
		var err error
		if tags, err = readTags(r.Body); err != nil {
			return err
		}
	}
	if err := checkTags(tags); err != nil {
		return err
	}
	err := e.backend.update(r, func(_ *bucket, _ *object, x *extra) error {
		x.tags = tags
		return nil
	})
	if err == nil && r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// readTags reads the document of a request.
func readTags(r io.Reader) ([]tag, error) {
	var d tagDocument
	if err := xml.NewDecoder(r).Decode(&d); err != nil {
		return nil, &refusal{http.StatusBadRequest, "MalformedXML", err.Error()}
	}
	return d.Tags, nil
}

// parseTags reads the form of a header, such as "a=1&b=2".
func parseTags(text string) (tags []tag, err error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, err
	}
	for name, v := range values {
		tags = append(tags, tag{name, v[0]})
	}
	slices.SortFunc(tags, func(a, b tag) int { return strings.Compare(a.Key, b.Key) })
	return tags, checkTags(tags)
}

func checkTags(tags []tag) error {
	if len(tags) > maxTags {
		return &refusal{http.StatusBadRequest, "BadRequest", fmt.Sprintf("An object may have %d tags.", maxTags)}
	}
	return nil
}
