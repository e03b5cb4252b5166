package s3

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
	"unsafe"

	"warp/pkg/store"
	"warp/pkg/store/httpclient"
	"warp/pkg/store/s3/xmlscan"
)

// A listing is a page of a listing. Its memory is reused.
type listing struct {
	entries   []entry
	text      []byte // the text of all entries, one after the other
	encoded   bool   // names are percent-encoded
	truncated bool
	next      store.ListPlace
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

const entrySize = int(unsafe.Sizeof(entry{}))

// errNoListing is the error for a document that is not a listing. The scanner is then at its first
// element.
var errNoListing = errors.New("the answer is not a listing")

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

// handOut calls each for every entry, objects first. If each returns false, it stops and returns
// false. All strings of a page share one allocation.
func (p *listing) handOut(bucket string, each func(store.Object) bool) bool {
	text := string(p.text)
	return p.handOutSome(bucket, text, false, each) && p.handOutSome(bucket, text, true, each)
}

func (p *listing) handOutSome(bucket, text string, prefixes bool, each func(store.Object) bool) bool {
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

// read parses the page in doc, from an answer with the given status. It counts the memory that the
// page needs: its entries, their text, and a copy of the text, which handOut makes.
func (p *listing) read(x *xmlscan.Scanner, doc []byte, status int, memory *store.Document) error {
	*p = listing{entries: p.entries[:0], text: p.text[:0]}
	if err := memory.Grow(2*len(doc), status); err != nil {
		return err
	}
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
				return errNoListing
			}
		case kind == xmlscan.Start && x.Depth == 2:
			if n, ok := newEntry(x.Name); ok {
				err = p.add(n, status, memory)
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
			return badEntry(err, status, len(p.entries))
		}
	}
}

// badEntry returns the error of an entry, unless it is one about the whole answer.
func badEntry(err error, status, n int) error {
	if own := (*store.Error)(nil); errors.As(err, &own) {
		return own
	}
	return store.BadAnswer(status, "the listing, at its entry %d: %v", n, err)
}

// add adds an entry.
func (p *listing) add(n entry, status int, memory *store.Document) error {
	if len(p.entries) == cap(p.entries) {
		more := len(p.entries)/4 + 256
		if err := memory.Grow(more*entrySize, status); err != nil {
			return err
		}
		p.entries = append(make([]entry, 0, len(p.entries)+more), p.entries...)
	}
	p.entries = append(p.entries, n)
	return nil
}

func (p *listing) pageField(name string, text []byte) (err error) {
	switch name {
	case "IsTruncated":
		if p.truncated, err = strconv.ParseBool(string(bytes.TrimSpace(text))); err != nil {
			return fmt.Errorf("IsTruncated is %.40q", text)
		}
	case "EncodingType":
		p.encoded = string(text) == "url"
	case "NextContinuationToken":
		p.next.Token = string(text)
	case "NextKeyMarker":
		p.next.Key = string(text)
	case "NextVersionIdMarker":
		p.next.Version = string(text)
	}
	return nil
}

func (p *listing) entryField(name string, text []byte) (err error) {
	n := &p.entries[len(p.entries)-1]
	switch name {
	case "Key", "Prefix":
		n.key = p.keep(text)
	case "ETag":
		n.etag = p.keep(bytes.Trim(text, `"`))
	case "VersionId":
		n.version = p.keep(text)
	case "Size":
		size, ok := httpclient.ParseDigits(bytes.TrimSpace(text))
		if n.size = size; !ok {
			return fmt.Errorf("its size is %.40q", text)
		}
	case "LastModified":
		n.modified, err = parseListTime(bytes.TrimSpace(text))
	}
	return err
}

func (p *listing) keep(b []byte) span {
	from := len(p.text)
	p.text = append(p.text, b...)
	return span{from, len(p.text)}
}

// decode decodes the names. Whether they are encoded may be known only at the end of the page.
func (p *listing) decode(status int) error {
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
	if p.encoded && p.next.Key != "" {
		key, err := url.QueryUnescape(p.next.Key)
		if err != nil {
			return store.BadAnswer(status, "the listing continues at a name that is not encoded as it says: %.60q", p.next.Key)
		}
		p.next.Key = key
	}
	return nil
}

// parseListTime parses a time in a listing. Stores differ in precision, so it is truncated to
// milliseconds.
func parseListTime(b []byte) (time.Time, error) {
	t, ok := parseStamp(b)
	if !ok {
		var err error
		if t, err = time.Parse(time.RFC3339, string(b)); err != nil {
			return t, fmt.Errorf("its time is %.40q", b)
		}
	}
	return t.Truncate(time.Millisecond), nil
}

// parseStamp parses "2006-01-02T15:04:05.000Z", the form that all stores use. It leaves other
// forms to the caller.
func parseStamp(b []byte) (t time.Time, ok bool) {
	const form = "2006-01-02T15:04:05.000Z"
	if len(b) != len(form) || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' || b[23] != 'Z' {
		return t, false
	}
	var n [7]int
	for i, at := range [7][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}} {
		v, digits := httpclient.ParseDigits(b[at[0]:at[1]])
		if !digits {
			return t, false
		}
		n[i] = int(v)
	}
	t = time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	// A date that does not exist turns into another one.
	return t, t.Month() == time.Month(n[1]) && t.Day() == n[2] && t.Hour() == n[3] && t.Minute() == n[4] && t.Second() == n[5]
}

// unescape decodes percent-encoding in place and returns the new length.
func unescape(b []byte) (n int, ok bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%':
			if i+2 >= len(b) {
				return 0, false
			}
			v, ok := httpclient.ParseHex(b[i+1 : i+3])
			if !ok {
				return 0, false
			}
			c, i = byte(v), i+2
		}
		b[n] = c
		n++
	}
	return n, true
}
