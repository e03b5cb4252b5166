package lean

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/s3/xmlscan"
)

// A listing is a page of a listing. Its memory is reused.
type listing struct {
	entries   []entry
	text      []byte // of all entries, one after the other
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

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if len(l.Prefix) > 1024 || !utf8.ValidString(l.Prefix) {
		return store.ErrUnsupported
	}
	var track store.ListTrack
	for {
		c, err := e.listPage(ctx, &l, track.Place, tr)
		if err == store.ErrUnsupported && track.Place != (store.ListPlace{}) {
			// Another engine would begin again, and list twice what was listed already.
			err = store.Errorf("RequestFailed", 0, "the credentials changed to signature V2 within a listing")
		}
		if err != nil {
			return err
		}
		page := &c.listing
		next, goesOn, found := page.next, page.truncated, len(page.entries) > 0
		wanted := page.handOut(l.Bucket, each)
		c.release()
		if track.Empty++; found {
			track.Empty = 0
		}
		if !wanted || !goesOn {
			return nil
		}
		if err := track.Advance(next, int(tr.Status())); err != nil {
			return err
		}
	}
}

// listPage requests a page and leaves it in the connection's listing.
func (e *Engine) listPage(ctx context.Context, l *store.List, place store.ListPlace, tr *store.Trace) (*conn, error) {
	q := request{method: "GET", ref: store.Ref{Bucket: l.Bucket}, headers: l.Headers}
	if l.Versions {
		q.listVersions(l, place)
	} else {
		q.listObjects(l, place)
	}
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return nil, err
	}
	if c.head.status != 200 {
		return nil, e.refused(ctx, c, &q, tr)
	}
	if err = c.receiveDocument(tr); err == nil {
		err = c.readListing()
	}
	if err != nil {
		return nil, e.failed(ctx, c, err, tr)
	}
	return c, nil
}

func delimiter(l *store.List) string {
	if l.Flat {
		return "/"
	}
	return ""
}

// listObjects sets the parameters that minio-go sends, sorted by name.
func (q *request) listObjects(l *store.List, place store.ListPlace) {
	if place.Token != "" {
		q.param("continuation-token", place.Token)
	}
	q.param("delimiter", delimiter(l))
	q.param("encoding-type", "url")
	q.param("fetch-owner", "true")
	q.param("list-type", "2")
	q.listRest(l)
}

func (q *request) listVersions(l *store.List, place store.ListPlace) {
	q.param("delimiter", delimiter(l))
	q.param("encoding-type", "url")
	if place.Key != "" {
		q.param("key-marker", place.Key)
	}
	q.listRest(l)
	if place.Version != "" {
		q.param("version-id-marker", place.Version)
	}
	q.param("versions", "")
}

func (q *request) listRest(l *store.List) {
	if l.MaxKeys > 0 {
		q.paramNumber("max-keys", l.MaxKeys)
	}
	if l.Metadata {
		q.param("metadata", "true")
	}
	q.param("prefix", l.Prefix)
}

// handOut calls each for every entry, objects first. It returns false if each did. All strings of
// a page share one allocation.
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

// readListing parses the page in c.kept.
func (c *conn) readListing() error {
	x, p := &c.scanner, &c.listing
	*p = listing{entries: p.entries[:0], text: p.text[:0]}
	x.Scan(c.kept)
	for {
		kind, err := x.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.Done:
			return p.decode(c.head.status)
		case kind == xmlscan.Start && x.Depth == 1:
			if name := string(x.Name); name != "ListBucketResult" && name != "ListVersionsResult" {
				return c.wrongDocument("a listing")
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
			return store.BadAnswer(c.head.status, "the listing, at its entry %d: %v", len(p.entries), err)
		}
	}
}

// newEntry returns the entry that an element of this name begins.
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
		size, ok := parseDigits(bytes.TrimSpace(text))
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

// decode decodes the names. Only the end of the page may say that they are encoded.
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
			return store.BadAnswer(status, "the listing goes on at a name that is not encoded as it says: %.60q", p.next.Key)
		}
		p.next.Key = key
	}
	return nil
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
			v, ok := parseHex(b[i+1 : i+3])
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
		v, digits := parseDigits(b[at[0]:at[1]])
		if !digits {
			return t, false
		}
		n[i] = int(v)
	}
	t = time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	// A date that does not exist comes out as another one.
	return t, t.Month() == time.Month(n[1]) && t.Day() == n[2] && t.Hour() == n[3] && t.Minute() == n[4] && t.Second() == n[5]
}
