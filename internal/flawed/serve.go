package flawed

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/xml"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A host serves requests to one address.
type host struct {
	*Store
	stale bool
}

// An answer to a request. nil is 200 without more.
type answer struct {
	status int
	header http.Header
	body   []byte
	code   string // of an error
}

func refusal(status int, code string) *answer {
	return &answer{status: status, code: code, body: errorDocument(code)}
}

func errorDocument(code string) []byte {
	return []byte(xml.Header + "<Error><Code>" + code + "</Code><Message>see the test</Message></Error>")
}

func document(v any) *answer {
	text, err := xml.Marshal(v)
	if err != nil {
		panic("flawed: " + err.Error())
	}
	return &answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, body: append([]byte(xml.Header), text...)}
}

func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	if a == nil {
		a = &answer{status: http.StatusOK}
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Length") == "" && a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

// ServeHTTP answers a request.
func (h host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	body, err := payload(r)
	if err != nil {
		refusal(http.StatusBadRequest, "IncompleteBody").send(w, r)
		return
	}
	lists := key == "" && r.Method == http.MethodGet && query.Get("list-type") == "2" && !spared(query.Get("prefix"))
	if (lists || key != "" && !spared(key)) && h.happens(Busy, busyOneIn) {
		refusal(http.StatusServiceUnavailable, "SlowDown").send(w, r)
		return
	}
	if key != "" && !spared(key) {
		if h.happens(Resets, 2*resetOneIn) {
			reset(w)
			return
		}
		h.pause()
	}
	b := h.bucket(name)
	switch {
	case b == nil && (key != "" || r.Method != http.MethodPut || r.URL.RawQuery != ""):
		refusal(http.StatusNotFound, "NoSuchBucket").send(w, r)
	case key == "":
		h.aboutBucket(b, name, r, query, body).send(w, r)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		h.get(b, key, r, query).send(w, r)
	default:
		h.change(w, r, key, func() *answer { return h.aboutObject(b, key, r, query, body) })
	}
}

// change makes a change, and does what some flaws do around it.
func (h host) change(w http.ResponseWriter, r *http.Request, key string, do func() *answer) {
	if spared(key) {
		do().send(w, r)
		return
	}
	if h.flaw == DelayedWrites && r.Method == http.MethodPut && h.happens(DelayedWrites, delayedOneIn) {
		select {
		case <-r.Context().Done():
		case <-h.ended.Done():
			return
		}
		if h.ended.Err() != nil {
			return
		}
		h.running.Go(func() {
			select {
			case <-time.After(writeDelay):
				do()
			case <-h.ended.Done():
			}
		})
		panic(http.ErrAbortHandler)
	}
	a := do()
	if h.happens(RepeatedWrites, repeatOneIn) {
		a = do()
	}
	if h.happens(Resets, 2*resetOneIn) {
		reset(w)
		return
	}
	if h.happens(DroppedAnswers, droppedOneIn) {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if a == nil || a.status/100 == 2 && a.code == "" {
		h.writes.Add(1)
	}
	a.send(w, r)
}

// reset resets the connection of a request.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// pause waits for the end of a pause.
func (h host) pause() {
	if left := pauseFor - time.Since(h.started)%pauseEvery; left > 0 && h.does(Pauses) {
		time.Sleep(left)
	}
}

// payload reads the body of a request, without the framing of signed chunks.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		if r.ContentLength >= 0 {
			body := make([]byte, r.ContentLength)
			_, err := io.ReadFull(r.Body, body)
			return body, err
		}
		return io.ReadAll(r.Body)
	}
	var all []byte
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			_, err = io.Copy(io.Discard, in) // trailers
			return all, err
		}
		from := len(all)
		all = append(all, make([]byte, n)...)
		if _, err = io.ReadFull(in, all[from:]); err != nil {
			return nil, err
		}
		if _, err = in.Discard(len("\r\n")); err != nil {
			return nil, err
		}
	}
}

// kept returns the headers of an upload that downloads return.
func kept(r *http.Request) http.Header {
	h := make(http.Header)
	for name, values := range r.Header {
		if name == "Content-Type" || strings.HasPrefix(name, "X-Amz-Meta-") {
			h[name] = values
		}
	}
	return h
}

func (h host) get(b *bucket, key string, r *http.Request, query url.Values) *answer {
	if query.Has("uploadId") {
		return h.listParts(b, key, query.Get("uploadId"))
	}
	for name := range query {
		if name != "versionId" || query.Get(name) != "" {
			return refusal(http.StatusNotImplemented, "NotImplemented")
		}
	}
	v := h.read(b, key, h.stale || h.flaw == StaleRanges && r.Header.Get("Range") != "")
	if v == nil {
		return refusal(http.StatusNotFound, "NoSuchKey")
	}
	if refused := conditionOf(r).check(v); refused != nil {
		return refused
	}
	a := &answer{status: http.StatusOK, header: v.header.Clone(), body: v.body}
	a.header.Set("Etag", v.etag)
	a.header.Set("Last-Modified", v.modified.UTC().Format(http.TimeFormat))
	a.header.Set("Accept-Ranges", "bytes")
	if span, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		first, last, _ := strings.Cut(span, "-")
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err2 != nil || to >= len(v.body) {
			to = len(v.body) - 1
		}
		if err != nil || from > to {
			return refusal(http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
		}
		a.status, a.body = http.StatusPartialContent, v.body[from:to+1]
		a.header.Set("Content-Range", "bytes "+strconv.Itoa(from)+"-"+strconv.Itoa(to)+"/"+strconv.Itoa(len(v.body)))
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	return a
}

// aboutObject makes a change to an object or an upload.
func (h host) aboutObject(b *bucket, key string, r *http.Request, query url.Values, body []byte) *answer {
	id := query.Get("uploadId")
	switch {
	case r.Header.Get("X-Amz-Copy-Source") != "":
	case r.Method == http.MethodPost && query.Has("uploads"):
		return h.begin(b, key, r)
	case r.Method == http.MethodPut && id != "":
		return h.putPart(b, key, id, query.Get("partNumber"), body)
	case r.Method == http.MethodPost && id != "":
		return h.complete(b, key, id, r, body)
	case r.Method == http.MethodDelete && id != "":
		return h.abort(b, key, id)
	case r.Method == http.MethodPut && r.URL.RawQuery == "":
		v := newVersion(body, kept(r))
		if refused := h.write(b, key, v, conditionOf(r), nil); refused != nil {
			return refused
		}
		return &answer{status: http.StatusOK, header: http.Header{"Etag": {v.etag}}}
	case r.Method == http.MethodDelete && (r.URL.RawQuery == "" || query.Has("versionId") && query.Get("versionId") == ""):
		if refused := h.write(b, key, nil, conditionOf(r), nil); refused != nil {
			return refused
		}
		return &answer{status: http.StatusNoContent}
	}
	return refusal(http.StatusNotImplemented, "NotImplemented")
}

func (h host) begin(b *bucket, key string, r *http.Request) *answer {
	id := rand.Text()
	b.mu.Lock()
	b.uploads[id] = &upload{strings.Clone(key), kept(r), time.Now(), make(map[int]*version)}
	b.mu.Unlock()
	return document(struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		Key      string
		UploadID string `xml:"UploadId"`
	}{Key: key, UploadID: id})
}

func (b *bucket) upload(key, id string) *upload {
	if u := b.uploads[id]; u != nil && u.key == key {
		return u
	}
	return nil
}

func (h host) putPart(b *bucket, key, id, number string, body []byte) *answer {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 10_000 {
		return refusal(http.StatusBadRequest, "InvalidArgument")
	}
	part := newVersion(body, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.upload(key, id)
	if u == nil {
		return refusal(http.StatusNotFound, "NoSuchUpload")
	}
	u.parts[n] = part
	h.show(b, key, u)
	return &answer{status: http.StatusOK, header: http.Header{"Etag": {part.etag}}}
}

func (h host) abort(b *bucket, key, id string) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.upload(key, id) == nil {
		return refusal(http.StatusNotFound, "NoSuchUpload")
	}
	delete(b.uploads, id)
	h.show(b, key, nil)
	return &answer{status: http.StatusNoContent}
}

func (h host) complete(b *bucket, key, id string, r *http.Request, body []byte) *answer {
	var named struct {
		Parts []struct {
			PartNumber int
			ETag       string
		} `xml:"Part"`
	}
	if xml.Unmarshal(body, &named) != nil || len(named.Parts) == 0 {
		return refusal(http.StatusBadRequest, "MalformedXML")
	}
	b.mu.Lock()
	u := b.upload(key, id)
	if u == nil {
		b.mu.Unlock()
		return refusal(http.StatusNotFound, "NoSuchUpload")
	}
	var numbers []int
	for _, p := range named.Parts {
		part := u.parts[p.PartNumber]
		if part == nil || strings.Trim(p.ETag, `"`) != strings.Trim(part.etag, `"`) {
			b.mu.Unlock()
			return refusal(http.StatusBadRequest, "InvalidPart")
		}
		numbers = append(numbers, p.PartNumber)
	}
	if last := len(numbers) - 1; last > 0 && h.flaw == MixedParts {
		r := b.record(key)
		part := u.parts[numbers[last]]
		if r.lastPart != nil && h.does(MixedParts) {
			u.parts[numbers[last]] = r.lastPart
		}
		r.lastPart = part
	}
	v := u.join(numbers)
	b.mu.Unlock()
	refused := h.write(b, key, v, conditionOf(r), func() {
		delete(b.uploads, id)
		h.show(b, key, nil)
	})
	if refused != nil {
		if !spared(key) && h.does(ErrorsIn200) {
			refused.status = http.StatusOK
		}
		return refused
	}
	return document(struct {
		XMLName xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket  string
		Key     string
		ETag    string
	}{Bucket: strings.Split(r.URL.Path, "/")[1], Key: key, ETag: v.etag})
}

type listedPart struct {
	PartNumber   int
	ETag         string
	Size         int
	LastModified string
}

func (h host) listParts(b *bucket, key, id string) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.upload(key, id)
	if u == nil {
		return refusal(http.StatusNotFound, "NoSuchUpload")
	}
	var parts []listedPart
	for _, n := range u.numbers() {
		parts = append(parts, listedPart{n, u.parts[n].etag, len(u.parts[n].body), isoTime(u.parts[n].modified)})
	}
	return document(struct {
		XMLName xml.Name     `xml:"ListPartsResult"`
		Parts   []listedPart `xml:"Part"`
	}{Parts: parts})
}

func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// aboutBucket answers requests without a key.
func (h host) aboutBucket(b *bucket, name string, r *http.Request, query url.Values, body []byte) *answer {
	switch {
	case r.Method == http.MethodPut && r.URL.RawQuery == "":
		return h.makeBucket(name)
	case r.Method == http.MethodHead:
		return nil
	case r.Method == http.MethodDelete && r.URL.RawQuery == "":
		return h.removeBucket(b, name)
	case r.Method == http.MethodPost && query.Has("delete"):
		return h.deleteMany(b, body)
	case r.Method != http.MethodGet:
	case query.Has("location"):
		return document(struct {
			XMLName xml.Name `xml:"LocationConstraint"`
		}{})
	case query.Has("versioning"):
		return document(struct {
			XMLName xml.Name `xml:"VersioningConfiguration"`
		}{})
	case query.Has("object-lock"):
		return refusal(http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
	case query.Has("uploads"):
		return h.listUploads(b, query.Get("prefix"))
	case query.Get("list-type") == "2":
		return h.list(b, query)
	}
	return refusal(http.StatusNotImplemented, "NotImplemented")
}

func (h host) makeBucket(name string) *answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.buckets[name] != nil {
		return refusal(http.StatusConflict, "BucketAlreadyOwnedByYou")
	}
	h.buckets[name] = &bucket{records: make(map[string]*record), uploads: make(map[string]*upload)}
	return nil
}

func (h host) removeBucket(b *bucket, name string) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records {
		if r.now != nil {
			return refusal(http.StatusConflict, "BucketNotEmpty")
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.buckets, name)
	return &answer{status: http.StatusNoContent}
}

type deletedObject struct{ Key string }

func (h host) deleteMany(b *bucket, body []byte) *answer {
	var named struct {
		Objects []deletedObject `xml:"Object"`
	}
	if xml.Unmarshal(body, &named) != nil {
		return refusal(http.StatusBadRequest, "MalformedXML")
	}
	for _, o := range named.Objects {
		h.write(b, o.Key, nil, condition{}, nil)
		if !spared(o.Key) {
			h.writes.Add(1)
		}
	}
	return document(struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Deleted []deletedObject
	}{Deleted: named.Objects})
}

type listedUpload struct {
	Key       string
	UploadID  string `xml:"UploadId"`
	Initiated string
}

func (h host) listUploads(b *bucket, prefix string) *answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []listedUpload
	for id, u := range b.uploads {
		if strings.HasPrefix(u.key, prefix) {
			all = append(all, listedUpload{u.key, id, isoTime(u.begun)})
		}
	}
	slices.SortFunc(all, func(a, b listedUpload) int { return strings.Compare(a.Key, b.Key) })
	return document(struct {
		XMLName xml.Name       `xml:"ListMultipartUploadsResult"`
		Uploads []listedUpload `xml:"Upload"`
	}{Uploads: all})
}

// list returns a page of a listing. The token of the next page is the last entry of this one.
func (h host) list(b *bucket, query url.Values) *answer {
	prefix, delimiter := query.Get("prefix"), query.Get("delimiter")
	limit, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil || limit < 1 || limit > 1000 {
		limit = 1000
	}
	after := max(query.Get("start-after"), query.Get("continuation-token"))
	text := bytes.NewBufferString(xml.Header + "<ListBucketResult>")
	n, last, cut := 0, "", false
	h.eachListed(b, prefix, after, func(name string, v *version) bool {
		if delimiter != "" {
			if i := strings.Index(name[len(prefix):], delimiter); i >= 0 {
				common := name[:len(prefix)+i+len(delimiter)]
				if common == last || common <= after {
					return true
				}
				name, v = common, nil
			}
		}
		if n == limit {
			cut = true
			return false
		}
		n, last = n+1, name
		appendEntry(text, name, v)
		return true
	})
	text.WriteString("<KeyCount>" + strconv.Itoa(n) + "</KeyCount><IsTruncated>" + strconv.FormatBool(cut) + "</IsTruncated>")
	if cut {
		text.WriteString("<NextContinuationToken>")
		_ = xml.EscapeText(text, []byte(last))
		text.WriteString("</NextContinuationToken>")
	}
	text.WriteString("</ListBucketResult>")
	return &answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, body: text.Bytes()}
}

// appendEntry appends an object, or a common prefix without a version.
func appendEntry(text *bytes.Buffer, name string, v *version) {
	element := "CommonPrefixes><Prefix>"
	if v != nil {
		element = "Contents><Key>"
	}
	text.WriteString("<" + element)
	_ = xml.EscapeText(text, []byte(name))
	if v == nil {
		text.WriteString("</Prefix></CommonPrefixes>")
		return
	}
	text.WriteString("</Key><LastModified>" + isoTime(v.modified) + "</LastModified><ETag>&#34;" + strings.Trim(v.etag, `"`) +
		"&#34;</ETag><Size>" + strconv.Itoa(len(v.body)) + "</Size><StorageClass>STANDARD</StorageClass></Contents>")
}

// eachListed calls each for the objects after a name that a listing shows, in order, until it returns
// false.
func (h host) eachListed(b *bucket, prefix, after string, each func(name string, v *version) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	then := time.Now().Add(-listLag)
	var dead []string
	i, _ := slices.BinarySearch(b.names, max(prefix, after))
	for ; i < len(b.names) && strings.HasPrefix(b.names[i], prefix); i++ {
		name := b.names[i]
		r := b.records[name]
		v := r.now
		if h.flaw == StaleListings && !spared(name) {
			if v = r.at(then); (v == nil) != (r.now == nil) {
				h.shown.Add(1)
			}
			if v == nil && r.now == nil && then.After(r.past[len(r.past)-1].until) {
				dead = append(dead, name)
			}
		}
		if name > after && v != nil && !each(name, v) {
			break
		}
	}
	for _, name := range dead {
		b.forget(name)
	}
}
