package gcs

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A standIn is a Google Cloud Storage that accepts only documented requests; any other request
// fails the test. It keeps versions, pages its listings, resumes uploads, checks hashes and
// preconditions.
type standIn struct {
	t   *testing.T
	url string

	mu         sync.Mutex
	tokens     map[string]time.Time // valid tokens and when they expire
	objects    map[string][]*kept   // by name: generations, oldest first
	live       map[string]bool
	sessions   map[string]*session
	versioning bool
	generation int64
	log        []string
	fail       []int         // statuses of the next answers, instead of the normal ones
	tokenFetch int           // number of tokens issued
	tokenLife  time.Duration // lifetime in the answer
	refuseKeys bool          // refuse to issue tokens
	taken      int64
}

type kept struct {
	Name, ContentType, StorageClass string
	Key                             string
	Generation                      int64
	Data                            []byte
	Composed                        bool
	Metadata                        map[string]string
	Updated                         time.Time
}

type session struct {
	d    description
	key  string
	size int64
	data []byte
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{t: t, tokens: map[string]time.Time{}, objects: map[string][]*kept{}, live: map[string]bool{}, sessions: map[string]*session{},
		generation: 1700000000000000, tokenLife: time.Hour}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *standIn) addr() string { return strings.TrimPrefix(s.url, "http://") }

func (s *standIn) say(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message,
		"errors": []map[string]string{{"domain": "global", "reason": reason, "message": message}}}})
}

// wrong rejects requests that no client may send.
func (s *standIn) wrong(w http.ResponseWriter, r *http.Request, format string, args ...any) {
	s.t.Errorf("%s %s: %s", r.Method, r.RequestURI, fmt.Sprintf(format, args...))
	s.say(w, http.StatusBadRequest, "invalid", "wrong request")
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/token" {
		s.token(w, r)
		return
	}
	s.log = append(s.log, r.Method+" "+r.RequestURI)
	if until, ok := s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]; !ok || time.Now().After(until) {
		s.say(w, http.StatusUnauthorized, "authError", "Invalid Credentials")
		return
	}
	if len(s.fail) > 0 {
		status := s.fail[0]
		s.fail = s.fail[1:]
		if status != 0 {
			_, _ = io.Copy(io.Discard, r.Body)
			s.say(w, status, map[int]string{429: "rateLimitExceeded", 503: "backendError"}[status], "try again")
			return
		}
	}
	s.route(w, r)
}

// token exchanges a service account's assertion, as in RFC 7523.
func (s *standIn) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || strings.Count(r.FormValue("assertion"), ".") != 2 || s.refuseKeys {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`)
		return
	}
	s.tokenFetch++
	token := fmt.Sprintf("token-%d", s.tokenFetch)
	s.tokens[token] = time.Now().Add(time.Hour)
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": max(int(s.tokenLife.Seconds()), 1)})
}

const bucketName = "enginetest"

func (s *standIn) route(w http.ResponseWriter, r *http.Request) {
	path, query := r.URL.EscapedPath(), r.URL.Query()
	switch {
	case path == batchPath && r.Method == http.MethodPost:
		s.batch(w, r)
	case path == apiPath+"/b/"+bucketName && r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(map[string]any{"name": bucketName, "location": "EU", "versioning": map[string]bool{"enabled": s.versioning}})
	case path == apiPath+"/b/"+bucketName && r.Method == http.MethodPatch:
		var b bucket
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil || b.Versioning == nil {
			s.wrong(w, r, "no versioning in it: %v", err)
			return
		}
		s.versioning = b.Versioning.Enabled
		_, _ = io.WriteString(w, "{}")
	case path == uploadPath+"/b/"+bucketName+"/o":
		s.upload(w, r, query)
	case path == apiPath+"/b/"+bucketName+"/o" && r.Method == http.MethodGet:
		s.list(w, r, query)
	case strings.HasPrefix(path, apiPath+"/b/"+bucketName+"/o/"):
		s.object(w, r, strings.TrimPrefix(path, apiPath+"/b/"+bucketName+"/o/"), query)
	case strings.HasPrefix(path, apiPath+"/b/"), strings.HasPrefix(path, uploadPath+"/b/"):
		s.say(w, http.StatusNotFound, "notFound", "The specified bucket does not exist.")
	default:
		s.wrong(w, r, "there is no such request")
	}
}

// object handles a request about one object. Its name is one segment of the path.
func (s *standIn) object(w http.ResponseWriter, r *http.Request, rest string, query url.Values) {
	escaped, action, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(escaped)
	if err != nil {
		s.wrong(w, r, "the name is not escaped: %v", err)
		return
	}
	switch {
	case action == "compose" && r.Method == http.MethodPost:
		s.compose(w, r, name, query)
	case strings.HasPrefix(action, "rewriteTo/b/"+bucketName+"/o/") && r.Method == http.MethodPost:
		to, err := url.PathUnescape(strings.TrimPrefix(action, "rewriteTo/b/"+bucketName+"/o/"))
		if err != nil || strings.Contains(strings.TrimPrefix(action, "rewriteTo/b/"+bucketName+"/o/"), "/") {
			s.wrong(w, r, "the name of the copy is not escaped: %v", err)
			return
		}
		s.rewrite(w, r, name, to, query)
	case action != "":
		s.wrong(w, r, "a slash in the name is not escaped")
	case !s.holds(w, name, query):
	case r.Method == http.MethodDelete:
		s.remove(w, name, query.Get("generation"))
	case r.Method == http.MethodGet && query.Get("alt") == "media":
		s.media(w, r, name, query)
	case r.Method == http.MethodGet:
		o := s.find(name, query.Get("generation"))
		if o == nil {
			s.say(w, http.StatusNotFound, "notFound", "No such object: "+bucketName+"/"+name)
			return
		}
		s.show(w, o)
	default:
		s.wrong(w, r, "there is no such request about an object")
	}
}

func (s *standIn) find(name, generation string) *kept {
	all := s.objects[name]
	if generation == "" {
		if !s.live[name] {
			return nil
		}
		return all[len(all)-1]
	}
	for _, o := range all {
		if strconv.FormatInt(o.Generation, 10) == generation {
			return o
		}
	}
	return nil
}

func crcOf(data []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))))
}

func md5Of(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func shown(o *kept) map[string]any {
	all := map[string]any{"name": o.Name, "generation": strconv.FormatInt(o.Generation, 10), "size": strconv.Itoa(len(o.Data)),
		"crc32c": crcOf(o.Data), "updated": o.Updated.Format(time.RFC3339Nano), "contentType": o.ContentType, "storageClass": cmp.Or(o.StorageClass, "STANDARD")}
	if !o.Composed {
		all["md5Hash"] = md5Of(o.Data)
	}
	if len(o.Metadata) > 0 {
		all["metadata"] = o.Metadata
	}
	if o.Key != "" {
		all["kmsKeyName"] = o.Key + "/cryptoKeyVersions/1"
	}
	return all
}

func (s *standIn) show(w http.ResponseWriter, o *kept) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(shown(o))
}

// holds answers a request whose precondition does not hold, and then returns false.
func (s *standIn) holds(w http.ResponseWriter, name string, query url.Values) bool {
	match, current := query.Get("ifGenerationMatch"), "0"
	if s.live[name] {
		current = strconv.FormatInt(s.find(name, "").Generation, 10)
	}
	if match == "" || match == current {
		return true
	}
	s.say(w, http.StatusPreconditionFailed, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
	return false
}

// keep stores an object, if the precondition and the hashes allow it.
func (s *standIn) keep(w http.ResponseWriter, r *http.Request, o *kept, want description, query url.Values) bool {
	if !s.holds(w, o.Name, query) {
		return false
	}
	if want.MD5 != "" && want.MD5 != md5Of(o.Data) || want.CRC32C != "" && want.CRC32C != crcOf(o.Data) {
		s.say(w, http.StatusBadRequest, "invalid", "Provided hash does not match calculated hash")
		return false
	}
	if o.Name == "" {
		s.wrong(w, r, "the object has no name")
		return false
	}
	s.generation++
	o.Generation, o.Updated, o.Key = s.generation, time.Now(), query.Get("kmsKeyName")
	if !s.versioning {
		s.objects[o.Name] = nil
	}
	s.objects[o.Name], s.live[o.Name] = append(s.objects[o.Name], o), true
	return true
}

func (s *standIn) upload(w http.ResponseWriter, r *http.Request, query url.Values) {
	if r.Method == http.MethodPut {
		s.chunk(w, r, query)
		return
	}
	if r.Method != http.MethodPost {
		s.wrong(w, r, "uploads are POST")
		return
	}
	switch query.Get("uploadType") {
	case "media":
		data, _ := io.ReadAll(r.Body)
		o := &kept{Name: query.Get("name"), ContentType: r.Header.Get("Content-Type"), Data: data}
		if s.keep(w, r, o, description{}, query) {
			s.show(w, o)
		}
	case "multipart":
		s.related(w, r, query)
	case "resumable":
		s.begin(w, r, query)
	default:
		s.wrong(w, r, "there is no uploadType %q", query.Get("uploadType"))
	}
}

// related handles an upload in two parts: the resource and the payload.
func (s *standIn) related(w http.ResponseWriter, r *http.Request, query url.Values) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/related" {
		s.wrong(w, r, "the body is %s", r.Header.Get("Content-Type"))
		return
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	first, err := parts.NextRawPart()
	if err != nil {
		s.wrong(w, r, "no first part: %v", err)
		return
	}
	var d description
	if err := json.NewDecoder(first).Decode(&d); err != nil || !strings.HasPrefix(first.Header.Get("Content-Type"), "application/json") {
		s.wrong(w, r, "the first part is no JSON: %v", err)
		return
	}
	second, err := parts.NextRawPart()
	if err != nil {
		s.wrong(w, r, "no second part: %v", err)
		return
	}
	data, _ := io.ReadAll(second)
	if _, err := parts.NextRawPart(); err != io.EOF {
		s.wrong(w, r, "more than two parts: %v", err)
		return
	}
	o := &kept{Name: cmp.Or(d.Name, query.Get("name")), ContentType: cmp.Or(d.ContentType, second.Header.Get("Content-Type")),
		StorageClass: d.StorageClass, Metadata: d.Metadata, Data: data}
	if s.keep(w, r, o, d, query) {
		s.show(w, o)
	}
}

func (s *standIn) begin(w http.ResponseWriter, r *http.Request, query url.Values) {
	var d description
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		s.wrong(w, r, "the resource is no JSON: %v", err)
		return
	}
	size, err := strconv.ParseInt(r.Header.Get("X-Upload-Content-Length"), 10, 64)
	if err != nil {
		s.wrong(w, r, "X-Upload-Content-Length: %v", err)
		return
	}
	id := fmt.Sprintf("session%d", len(s.sessions))
	s.sessions[id] = &session{d: d, key: query.Get("kmsKeyName"), size: size}
	w.Header().Set("Location", s.url+uploadPath+"/b/"+bucketName+"/o?uploadType=resumable&name="+url.QueryEscape(query.Get("name"))+"&upload_id="+id)
}

// chunk accepts a chunk of an upload, or only a part of the chunk.
func (s *standIn) chunk(w http.ResponseWriter, r *http.Request, query url.Values) {
	up := s.sessions[query.Get("upload_id")]
	if up == nil {
		s.say(w, http.StatusNotFound, "notFound", "no such session")
		return
	}
	var from, to, size int64
	if _, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size); err != nil || size != up.size || from != int64(len(up.data)) {
		s.wrong(w, r, "Content-Range %q of an upload of %d with %d bytes", r.Header.Get("Content-Range"), up.size, len(up.data))
		return
	}
	data, _ := io.ReadAll(r.Body)
	last := to+1 == size
	if int64(len(data)) != to-from+1 || !last && len(data)%chunkUnit != 0 {
		s.wrong(w, r, "a chunk of %d bytes as %q", len(data), r.Header.Get("Content-Range"))
		return
	}
	if s.taken > 0 && int64(len(data)) > s.taken {
		data, last = data[:s.taken], false
		s.taken = 0
	}
	if up.data = append(up.data, data...); !last {
		if len(up.data) > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(up.data)-1))
		}
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	o := &kept{Name: cmp.Or(up.d.Name, query.Get("name")), ContentType: up.d.ContentType, StorageClass: up.d.StorageClass, Metadata: up.d.Metadata, Data: up.data}
	query.Set("kmsKeyName", up.key)
	if s.keep(w, r, o, up.d, query) {
		s.show(w, o)
	}
}

func (s *standIn) media(w http.ResponseWriter, r *http.Request, name string, query url.Values) {
	o := s.find(name, query.Get("generation"))
	if o == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "No such object: "+bucketName+"/"+name)
		return
	}
	if r.Header.Get("Accept-Encoding") != "gzip" {
		s.wrong(w, r, "objects that were compressed would be decompressed")
		return
	}
	w.Header().Add("X-Goog-Hash", "crc32c="+crcOf(o.Data))
	if !o.Composed {
		w.Header().Add("X-Goog-Hash", "md5="+md5Of(o.Data))
	}
	w.Header().Set("X-Goog-Generation", strconv.FormatInt(o.Generation, 10))
	w.Header().Set("Content-Type", o.ContentType)
	http.ServeContent(w, r, "", o.Updated, bytes.NewReader(o.Data))
}

func (s *standIn) remove(w http.ResponseWriter, name, generation string) {
	o := s.find(name, generation)
	switch {
	case o == nil:
		s.say(w, http.StatusNotFound, "notFound", "No such object: "+bucketName+"/"+name)
		return
	case generation == "" && s.versioning:
		s.live[name] = false
	default:
		if s.live[name] && o == s.find(name, "") {
			s.live[name] = false
		}
		s.objects[name] = slices.DeleteFunc(s.objects[name], func(k *kept) bool { return k == o })
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *standIn) compose(w http.ResponseWriter, r *http.Request, name string, query url.Values) {
	var c composition
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || len(c.Sources) == 0 || len(c.Sources) > 32 {
		s.wrong(w, r, "%d sources: %v", len(c.Sources), err)
		return
	}
	o := &kept{Name: name, ContentType: c.Destination.ContentType, StorageClass: c.Destination.StorageClass, Metadata: c.Destination.Metadata, Composed: true}
	for _, source := range c.Sources {
		from := s.find(source.Name, "")
		if from == nil {
			s.say(w, http.StatusNotFound, "notFound", "Object "+source.Name+" not found.")
			return
		}
		o.Data = append(o.Data, from.Data...)
	}
	if s.keep(w, r, o, description{}, query) {
		s.show(w, o)
	}
}

// rewrite copies in two steps, as the store may.
func (s *standIn) rewrite(w http.ResponseWriter, r *http.Request, from, to string, query url.Values) {
	source := s.find(from, query.Get("sourceGeneration"))
	switch {
	case source == nil:
		s.say(w, http.StatusNotFound, "notFound", "No such object: "+bucketName+"/"+from)
	case query.Get("rewriteToken") == "":
		_ = json.NewEncoder(w).Encode(map[string]any{"done": false, "rewriteToken": "more", "totalBytesRewritten": "1"})
	case query.Get("rewriteToken") != "more":
		s.wrong(w, r, "another rewriteToken")
	default:
		o := *source
		o.Name = to
		if s.keep(w, r, &o, description{}, url.Values{"kmsKeyName": query["destinationKmsKeyName"]}) {
			_ = json.NewEncoder(w).Encode(map[string]any{"done": true, "resource": shown(&o)})
		}
	}
}

// list returns pages of two entries at most. The last page has no token.
func (s *standIn) list(w http.ResponseWriter, r *http.Request, query url.Values) {
	var entries []map[string]any
	var prefixes []string
	for name, all := range s.objects {
		rest, ok := strings.CutPrefix(name, query.Get("prefix"))
		if d := query.Get("delimiter"); ok && d != "" && strings.Contains(rest, d) {
			below, _, _ := strings.Cut(rest, d)
			if p := query.Get("prefix") + below + d; !slices.Contains(prefixes, p) && s.live[name] {
				prefixes = append(prefixes, p)
			}
			continue
		}
		for _, o := range all {
			if ok && (query.Get("versions") == "true" || s.live[name] && o == all[len(all)-1]) {
				entries = append(entries, shown(o))
			}
		}
	}
	slices.SortFunc(entries, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(a["name"].(string), b["name"].(string)), cmp.Compare(a["generation"].(string), b["generation"].(string)))
	})
	from := 0
	if token := query.Get("pageToken"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "page/"))
		if err != nil {
			s.wrong(w, r, "pageToken %q", token)
			return
		}
		from = n
	}
	size := 2
	if n, err := strconv.Atoi(query.Get("maxResults")); err == nil {
		size = min(size, n)
	}
	page := map[string]any{"kind": "storage#objects"}
	end := min(from+size, len(entries))
	if page["items"] = entries[from:end]; end < len(entries) {
		page["nextPageToken"] = fmt.Sprintf("page/%d", end)
	}
	if from == 0 && len(prefixes) > 0 {
		page["prefixes"] = prefixes
	}
	_ = json.NewEncoder(w).Encode(page)
}

// batch answers the requests of a batch in reverse order.
func (s *standIn) batch(w http.ResponseWriter, r *http.Request) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		s.wrong(w, r, "Content-Type: %v", err)
		return
	}
	var answers []string
	parts := multipart.NewReader(r.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil || part.Header.Get("Content-Type") != "application/http" {
			s.wrong(w, r, "a part of %s: %v", part.Header.Get("Content-Type"), err)
			return
		}
		text, _ := io.ReadAll(part)
		inner, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(bytes.TrimRight(text, "\r\n"), "\r\nHost: x\r\n\r\n"...))))
		if err != nil {
			s.wrong(w, r, "a request in a batch: %v in %q", err, text)
			return
		}
		rec := httptest.NewRecorder()
		s.route(rec, inner)
		answers = append(answers, fmt.Sprintf("Content-Type: application/http\r\nContent-ID: <response-%s\r\n\r\nHTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s",
			strings.TrimPrefix(part.Header.Get("Content-Id"), "<"), rec.Code, http.StatusText(rec.Code), rec.Body.Len(), rec.Body))
	}
	if len(answers) > 100 {
		s.wrong(w, r, "%d requests in a batch", len(answers))
		return
	}
	slices.Reverse(answers)
	w.Header().Set("Content-Type", "multipart/mixed; boundary=batch_x")
	for _, a := range answers {
		fmt.Fprintf(w, "--batch_x\r\n%s\r\n", a)
	}
	fmt.Fprint(w, "--batch_x--\r\n")
}
