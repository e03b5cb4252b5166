package answer

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3/xmlscan"
)

// A Listing is a page of a listing. Its memory is reused.
type Listing struct {
	entries   []entry
	text      []byte // the text of all entries, one after the other
	encoded   bool   // names are percent-encoded
	Truncated bool
	Next      store.ListPlace
}

// An entry is an entry of a page. Its strings are spans of the page's text.
type entry struct {
	key, etag, version span
	size               int64
	modified           time.Time
	marker, described  bool
	prefix             bool
}

type span struct{ from, to int }

// ErrNoListing is the error for a document that is not a listing. The scanner is then at its first
// element.
var ErrNoListing = errors.New("the answer is no listing")

// newEntry returns the entry that starts with an element of this name.
func newEntry(name []byte) (n entry, ok bool) {
	switch string(name) {
	case "Contents", "Version":
		return entry{}, true
	case "DeleteMarker":
		return entry{marker: true}, true
	case "CommonPrefixes":
		return entry{prefix: true}, true
	}
	return entry{}, false
}

// HandOut calls each for every entry, objects first. If each returns false, it stops and returns
// false. All strings of a page share one allocation.
func (p *Listing) HandOut(bucket string, each func(store.Object) bool) bool {
	text := string(p.text)
	return p.handOutSome(bucket, text, false, each) && p.handOutSome(bucket, text, true, each)
}

func (p *Listing) handOutSome(bucket, text string, prefixes bool, each func(store.Object) bool) bool {
	part := func(t span) string { return text[t.from:t.to] }
	for i := range p.entries {
		n := &p.entries[i]
		if n.prefix != prefixes {
			continue
		}
		o := store.Object{
			Ref:  store.Ref{Bucket: bucket, Key: part(n.key), VersionID: part(n.version)},
			ETag: part(n.etag), Size: n.size, LastModified: n.modified,
			DeleteMarker: n.marker, HasMetadata: n.described, IsPrefix: n.prefix,
		}
		if !each(o) {
			return false
		}
	}
	return true
}

// Empty reports whether the page has no entries.
func (p *Listing) Empty() bool { return len(p.entries) == 0 }

// Read parses the page in doc, from an answer with the given status.
func (p *Listing) Read(x *xmlscan.Scanner, doc []byte, status int) error {
	*p = Listing{entries: p.entries[:0], text: p.text[:0]}
	x.Scan(doc)
	for {
		kind, err := x.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.Done:
			return p.decode(status)
		case kind == xmlscan.Start && x.Depth == 1:
			if name := string(x.Name); name != "ListBucketResult" && name != "ListVersionsResult" {
				return ErrNoListing
			}
		case kind == xmlscan.Start && x.Depth == 2:
			if n, ok := newEntry(x.Name); ok {
				p.entries = append(p.entries, n)
			}
		case kind == xmlscan.End && x.Depth == 2:
			err = p.pageField(string(x.Name), x.Text)
		case kind == xmlscan.End && x.Depth == 3:
			if _, ok := newEntry(x.Parent()); ok {
				err = p.entryField(string(x.Name), x.Text)
			}
		case kind == xmlscan.Start && x.Depth == 4 && string(x.Parent()) == "UserMetadata" && len(p.entries) > 0:
			p.entries[len(p.entries)-1].described = true
		}
		if err != nil {
			return store.BadAnswer(status, "the listing, at its entry %d: %v", len(p.entries), err)
		}
	}
}

func (p *Listing) pageField(name string, text []byte) (err error) {
	switch name {
	case "IsTruncated":
		if p.Truncated, err = strconv.ParseBool(string(bytes.TrimSpace(text))); err != nil {
			return fmt.Errorf("IsTruncated is %.40q", text)
		}
	case "EncodingType":
		p.encoded = string(text) == "url"
	case "NextContinuationToken":
		p.Next.Token = string(text)
	case "NextKeyMarker":
		p.Next.Key = string(text)
	case "NextVersionIdMarker":
		p.Next.Version = string(text)
	}
	return nil
}

func (p *Listing) entryField(name string, text []byte) (err error) {
	n := &p.entries[len(p.entries)-1]
	switch name {
	case "Key", "Prefix":
		n.key = p.keep(text)
	case "ETag":
		n.etag = p.keep(bytes.Trim(text, `"`))
	case "VersionId":
		n.version = p.keep(text)
	case "Size":
		size, ok := parseDigits(bytes.TrimSpace(text))
		if n.size = size; !ok {
			return fmt.Errorf("its size is %.40q", text)
		}
	case "LastModified":
		n.modified, err = parseListTime(bytes.TrimSpace(text))
	}
	return err
}

func (p *Listing) keep(b []byte) span {
	from := len(p.text)
	p.text = append(p.text, b...)
	return span{from, len(p.text)}
}

// decode decodes the names. Whether they are encoded may be known only at the end of the page.
func (p *Listing) decode(status int) error {
	for i := range p.entries {
		n := &p.entries[i]
		if n.key.from == n.key.to {
			return store.BadAnswer(status, "the listing's entry %d has no name", i+1)
		}
		if !p.encoded {
			continue
		}
		to, ok := unescape(p.text[n.key.from:n.key.to])
		if !ok {
			return store.BadAnswer(status, "the listing's entry %d has a name that is not encoded as it says", i+1)
		}
		n.key.to = n.key.from + to
	}
	if p.encoded && p.Next.Key != "" {
		key, err := url.QueryUnescape(p.Next.Key)
		if err != nil {
			return store.BadAnswer(status, "the listing goes on at a name that is not encoded as it says: %.60q", p.Next.Key)
		}
		p.Next.Key = key
	}
	return nil
}
