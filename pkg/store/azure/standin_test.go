package azure

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
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

// A standIn is an account of Azure Storage that accepts only documented requests; any other request
// fails the test. It checks signatures, keeps versions, pages its listings, and checks
// preconditions.
type standIn struct {
	t    *testing.T
	addr string

	mu        sync.Mutex
	blobs     map[string][]*blob // by name: versions, oldest first
	live      map[string]bool
	blocks    map[string]map[string][]byte // uncommitted blocks, by blob
	folders   map[string]bool              // directories of Data Lake Storage
	appended  map[string][]byte            // not flushed yet
	versions  bool
	lake      bool
	clock     int
	log       []string
	fail      []func(http.ResponseWriter) // replace the next answers; nil = the normal answer
	pending   int                         // number of times that a copy is reported as incomplete
	container http.Header                 // metadata of the container; nil = it does not exist
}

type blob struct {
	name, kind, contentType, tier, version, etag string
	data                                         []byte
	meta                                         map[string]string
	tags                                         map[string]string
	made                                         time.Time
	hashed                                       bool
}

const (
	testAccount   = "warpaccount"
	testKey       = "d2FycCdzIGtleSBmb3IgdGVzdHMsIDMyIGJ5dGVzIQ=="
	testContainer = "enginetest"
	testToken     = "a-token-of-entra"
	testSAS       = "se=2099-01-01T00%3A00%3A00Z&sig=c2ln%2FbmF0dXJl&sp=racwdlt&sr=c&sv=2021-12-02"
)

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{t: t, blobs: map[string][]*blob{}, live: map[string]bool{}, blocks: map[string]map[string][]byte{},
		folders: map[string]bool{}, appended: map[string][]byte{}, container: http.Header{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.addr = server.Listener.Addr().String()
	return s
}

func (s *standIn) say(w http.ResponseWriter, status int, code, message, detail string) {
	w.Header().Set("x-ms-error-code", code)
	text := "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>" + code + "</Code><Message>" + message +
		"\nRequestId:1234\nTime:2024-01-01</Message><AuthenticationErrorDetail>" + detail + "</AuthenticationErrorDetail></Error>"
	if s.lake {
		text = `{"error":{"code":"` + code + `","message":"` + message + `\nRequestId:1234"}}`
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// wrong rejects requests that no client may send.
func (s *standIn) wrong(w http.ResponseWriter, r *http.Request, format string, args ...any) {
	s.t.Errorf("%s %s: %s", r.Method, r.RequestURI, fmt.Sprintf(format, args...))
	s.say(w, http.StatusBadRequest, "InvalidInput", "wrong request", "")
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r.Method+" "+r.RequestURI)
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if len(s.fail) > 0 {
		answer := s.fail[0]
		if s.fail = s.fail[1:]; answer != nil {
			answer(w)
			return
		}
	}
	w.Header().Set("x-ms-version", r.Header.Get("X-Ms-Version"))
	if r.Header.Get("X-Ms-Version") != apiVersion {
		s.wrong(w, r, "x-ms-version is %q", r.Header.Get("X-Ms-Version"))
		return
	}
	if why := s.unauthorized(r, int64(len(body))); why != "" {
		s.say(w, http.StatusForbidden, "AuthenticationFailed", "Server failed to authenticate the request.", why)
		return
	}
	s.route(w, r)
}

// unauthorized returns why a request is not authorized; "" = it is.
func (s *standIn) unauthorized(r *http.Request, length int64) string {
	given := r.Header.Get("Authorization")
	if sas, _ := url.ParseQuery(testSAS); given == "" && r.URL.Query().Get("sig") == sas.Get("sig") {
		return ""
	}
	date, err := http.ParseTime(r.Header.Get("X-Ms-Date"))
	switch {
	case given == "Bearer "+testToken:
		return ""
	case err != nil || time.Since(date).Abs() > 15*time.Minute:
		return "Request date header too old: '" + r.Header.Get("X-Ms-Date") + "'"
	case given != "SharedKey "+testAccount+":"+signature(stringToSign(r, length)):
		return "The MAC signature found in the HTTP request '...' is not the same as any computed signature."
	}
	return ""
}

func signature(text string) string {
	key, _ := base64.StdEncoding.DecodeString(testKey)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// stringToSign builds the documented string to sign from the received request.
func stringToSign(r *http.Request, length int64) string {
	lines := []string{r.Method}
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
		"If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"} {
		value := r.Header.Get(name)
		if name == "Content-Length" {
			value = ""
			if length > 0 {
				value = strconv.FormatInt(length, 10)
			}
		}
		lines = append(lines, value)
	}
	for _, name := range slices.SortedFunc(maps.Keys(r.Header), func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		if strings.HasPrefix(name, "X-Ms-") {
			lines = append(lines, strings.ToLower(name)+":"+strings.TrimSpace(r.Header.Get(name)))
		}
	}
	resource := "/" + testAccount + r.URL.EscapedPath()
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		resource += "\n" + strings.ToLower(name) + ":" + strings.Join(query[name], ",")
	}
	return strings.Join(append(lines, resource), "\n")
}

func (s *standIn) route(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	container, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	about := container == testContainer && s.container != nil
	switch {
	case name == "" && r.Method == http.MethodPut && (q.Get("restype") == "container") != s.lake && (q.Get("resource") == "filesystem") == s.lake:
		s.makeContainer(w, r)
	case !about && s.lake:
		s.say(w, http.StatusNotFound, "FilesystemNotFound", "The specified filesystem does not exist.", "")
	case !about:
		s.say(w, http.StatusNotFound, "ContainerNotFound", "The specified container does not exist.", "")
	case name == "" && r.Method == http.MethodHead:
		maps.Copy(w.Header(), s.container)
	case s.lake && name == "":
		s.paths(w, r, q)
	case s.lake:
		s.file(w, r, name, q)
	case name == "" && q.Get("comp") == "list" && q.Get("restype") == "container":
		s.list(w, r, q)
	case name == "" && q.Get("comp") == "batch" && q.Get("restype") == "container" && r.Method == http.MethodPost:
		s.batch(w, r)
	case name == "":
		s.wrong(w, r, "there is no such request about a container")
	default:
		s.blob(w, r, name, q)
	}
}

func (s *standIn) makeContainer(w http.ResponseWriter, r *http.Request) {
	if s.container != nil {
		s.say(w, http.StatusConflict, "ContainerAlreadyExists", "The specified container already exists.", "")
		return
	}
	s.container = http.Header{}
	for name, values := range r.Header {
		if strings.HasPrefix(name, "X-Ms-Meta-") || name == "X-Ms-Properties" {
			s.container[name] = values
		}
	}
	w.WriteHeader(http.StatusCreated)
}

func (s *standIn) blob(w http.ResponseWriter, r *http.Request, name string, q url.Values) {
	body, _ := io.ReadAll(r.Body)
	if !s.intact(w, r, body) {
		return
	}
	b := s.find(name, q.Get("versionid"))
	kind := r.Header.Get("X-Ms-Blob-Type")
	switch comp := q.Get("comp"); {
	case r.Method == http.MethodPut && comp == "" && r.Header.Get("X-Ms-Copy-Source") != "":
		s.copy(w, r, name)
	case r.Method == http.MethodPut && comp == "" && (kind == "BlockBlob" || kind == "AppendBlob" && len(body) == 0):
		s.keep(w, r, &blob{name: name, kind: kind, contentType: r.Header.Get("Content-Type"), data: body, hashed: kind == "BlockBlob"})
	case r.Method == http.MethodPut && comp == "block":
		s.block(w, r, name, q.Get("blockid"), body)
	case r.Method == http.MethodPut && comp == "blocklist":
		s.commit(w, r, name, body)
	case r.Method == http.MethodGet && comp == "blocklist" && q.Get("blocklisttype") == "uncommitted" && (b != nil || len(s.blocks[name]) > 0):
		s.showBlocks(w, name)
	case b == nil:
		s.say(w, http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.", "")
	case r.Method == http.MethodPut && comp == "appendblock" && b.kind == "AppendBlob":
		if at := r.Header.Get("X-Ms-Blob-Condition-Appendpos"); at != strconv.Itoa(len(b.data)) {
			s.say(w, http.StatusPreconditionFailed, "AppendPositionConditionNotMet", "The append position condition specified was not met.", "")
			return
		}
		b.data = append(b.data, body...)
		w.Header().Set("ETag", b.etag)
		w.WriteHeader(http.StatusCreated)
	case comp == "tags":
		s.tag(w, r, b, body)
	case r.Method == http.MethodDelete:
		s.remove(w, r, b, q.Get("versionid"))
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && comp == "":
		s.show(w, r, b)
	default:
		s.wrong(w, r, "there is no such request about a blob")
	}
}

// intact checks the hashes that came with a body.
func (s *standIn) intact(w http.ResponseWriter, r *http.Request, body []byte) bool {
	sum := md5.Sum(body)
	crc := binary.LittleEndian.AppendUint64(nil, crc64.Checksum(body, crc64.MakeTable(0x9A6C9329AC4BC9B5)))
	for name, want := range map[string][]byte{"Content-MD5": sum[:], "X-Ms-Content-Crc64": crc} {
		if got := r.Header.Get(name); got != "" && got != base64.StdEncoding.EncodeToString(want) {
			s.say(w, http.StatusBadRequest, "Md5Mismatch", "The hash specified in the request did not match the hash calculated by the server.", "")
			return false
		}
	}
	return true
}

func (s *standIn) find(name, version string) *blob {
	all := s.blobs[name]
	if version == "" {
		if !s.live[name] {
			return nil
		}
		return all[len(all)-1]
	}
	for _, b := range all {
		if b.version == version {
			return b
		}
	}
	return nil
}

// matches answers a request whose If-Match does not hold for a blob, and then returns false.
func (s *standIn) matches(w http.ResponseWriter, r *http.Request, b *blob) bool {
	if match := r.Header.Get("If-Match"); match == "" || b != nil && b.etag == match {
		return true
	}
	s.say(w, http.StatusPreconditionFailed, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.", "")
	return false
}

// keep creates a blob, if the preconditions allow it.
func (s *standIn) keep(w http.ResponseWriter, r *http.Request, b *blob) bool {
	if r.Header.Get("If-None-Match") == "*" && s.live[b.name] {
		s.say(w, http.StatusConflict, "BlobAlreadyExists", "The specified blob already exists.", "")
		return false
	}
	if !s.matches(w, r, s.find(b.name, "")) {
		return false
	}
	s.clock++
	b.etag, b.made, b.tier = fmt.Sprintf(`"0x8D%012X"`, s.clock), time.Now(), cmp.Or(r.Header.Get("X-Ms-Access-Tier"), "Hot")
	b.meta = map[string]string{}
	for name := range r.Header {
		if meta, ok := strings.CutPrefix(name, "X-Ms-Meta-"); ok {
			b.meta[meta] = r.Header.Get(name)
		}
	}
	if tags, err := url.ParseQuery(r.Header.Get("X-Ms-Tags")); err == nil {
		b.tags = map[string]string{}
		for key := range tags {
			b.tags[key] = tags.Get(key)
		}
	}
	if s.versions {
		b.version = fmt.Sprintf("2024-01-01T00:00:00.%07dZ", s.clock)
		w.Header().Set("x-ms-version-id", b.version)
	} else {
		s.blobs[b.name] = nil
	}
	s.blobs[b.name], s.live[b.name] = append(s.blobs[b.name], b), true
	delete(s.blocks, b.name)
	w.Header().Set("ETag", b.etag)
	w.Header().Set("Last-Modified", b.made.UTC().Format(http.TimeFormat))
	if r.Header.Get("X-Ms-Copy-Source") == "" {
		w.WriteHeader(http.StatusCreated)
	}
	return true
}

// block stores a block. The ids of all blocks of a blob have the same length.
func (s *standIn) block(w http.ResponseWriter, r *http.Request, name, id string, body []byte) {
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(raw) > 64 || len(body) == 0 {
		s.wrong(w, r, "block %q of %d bytes", id, len(body))
		return
	}
	for other := range s.blocks[name] {
		if len(other) != len(id) {
			s.say(w, http.StatusBadRequest, "InvalidBlobOrBlock", "The specified blob or block content is invalid.", "")
			return
		}
	}
	if s.blocks[name] == nil {
		s.blocks[name] = map[string][]byte{}
	}
	s.blocks[name][id] = body
	sum := md5.Sum(body)
	w.Header().Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	w.WriteHeader(http.StatusCreated)
}

func (s *standIn) commit(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	var list struct{ Uncommitted []string }
	if err := xml.Unmarshal(body, &list); err != nil {
		s.wrong(w, r, "the list of blocks: %v", err)
		return
	}
	b := &blob{name: name, kind: "BlockBlob", contentType: r.Header.Get("X-Ms-Blob-Content-Type")}
	for _, id := range list.Uncommitted {
		data, ok := s.blocks[name][id]
		if !ok {
			s.say(w, http.StatusBadRequest, "InvalidBlockList", "The specified block list is invalid.", "")
			return
		}
		b.data = append(b.data, data...)
	}
	s.keep(w, r, b)
}

func (s *standIn) showBlocks(w http.ResponseWriter, name string) {
	fmt.Fprint(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList><UncommittedBlocks>")
	for _, id := range slices.Sorted(maps.Keys(s.blocks[name])) {
		fmt.Fprintf(w, "<Block><Name>%s</Name><Size>%d</Size></Block>", id, len(s.blocks[name][id]))
	}
	fmt.Fprint(w, "</UncommittedBlocks></BlockList>")
}

// copy copies from a URL of this account.
func (s *standIn) copy(w http.ResponseWriter, r *http.Request, name string) {
	from, err := url.Parse(r.Header.Get("X-Ms-Copy-Source"))
	source, ok := "", false
	if err == nil && from.Host == s.addr {
		source, ok = strings.CutPrefix(from.Path, "/"+testContainer+"/")
	}
	if !ok {
		s.wrong(w, r, "copy of %q", r.Header.Get("X-Ms-Copy-Source"))
		return
	}
	b := s.find(source, from.Query().Get("versionid"))
	if b == nil {
		s.say(w, http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.", "")
		return
	}
	made := *b
	made.name = name
	status := "success"
	if s.pending > 0 {
		status = "pending"
	}
	w.Header().Set("x-ms-copy-status", status)
	if s.keep(w, r, &made) {
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *standIn) tag(w http.ResponseWriter, r *http.Request, b *blob, body []byte) {
	type set struct {
		XMLName xml.Name                      `xml:"Tags"`
		Tags    []struct{ Key, Value string } `xml:"TagSet>Tag"`
	}
	var all set
	if r.Method == http.MethodGet {
		for key, value := range b.tags {
			all.Tags = append(all.Tags, struct{ Key, Value string }{key, value})
		}
		_ = xml.NewEncoder(w).Encode(all)
		return
	}
	if err := xml.Unmarshal(body, &all); err != nil || r.Method != http.MethodPut || len(all.Tags) > 10 {
		s.wrong(w, r, "tags: %v", err)
		return
	}
	b.tags = map[string]string{}
	for _, tag := range all.Tags {
		b.tags[tag.Key] = tag.Value
	}
	w.WriteHeader(http.StatusNoContent)
}

// remove deletes a blob, which becomes an earlier version if versioning is enabled, or a version
// that is not the current one.
func (s *standIn) remove(w http.ResponseWriter, r *http.Request, b *blob, version string) {
	current := s.live[b.name] && s.find(b.name, "") == b
	switch {
	case !s.matches(w, r, b):
		return
	case version != "" && current:
		s.say(w, http.StatusForbidden, "OperationNotAllowedOnRootBlob", "The specified operation is not allowed on root blob.", "")
		return
	case version == "" && s.versions:
		s.live[b.name] = false
	default:
		s.live[b.name] = s.live[b.name] && !current
		s.blobs[b.name] = slices.DeleteFunc(s.blobs[b.name], func(other *blob) bool { return other == b })
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *standIn) show(w http.ResponseWriter, r *http.Request, b *blob) {
	if !s.matches(w, r, b) {
		return
	}
	h := w.Header()
	h.Set("ETag", b.etag)
	h.Set("Content-Type", b.contentType)
	h.Set("x-ms-blob-type", b.kind)
	h.Set("x-ms-access-tier", b.tier)
	if b.version != "" {
		h.Set("x-ms-version-id", b.version)
	}
	var properties []string
	for name, value := range b.meta {
		h.Set("x-ms-meta-"+name, value)
		properties = append(properties, property(strings.ToLower(name), value))
	}
	if s.lake {
		h.Set("x-ms-properties", strings.Join(properties, ","))
	}
	h.Set("x-ms-copy-status", "success")
	if s.pending > 0 {
		s.pending--
		h.Set("x-ms-copy-status", "pending")
	}
	if b.hashed {
		sum := md5.Sum(b.data)
		h.Set(map[bool]string{true: "x-ms-blob-content-md5", false: "Content-MD5"}[r.Header.Get("Range") != ""], base64.StdEncoding.EncodeToString(sum[:]))
	}
	http.ServeContent(w, r, "", b.made, bytes.NewReader(b.data))
}

// list returns pages of two entries at most.
func (s *standIn) list(w http.ResponseWriter, r *http.Request, q url.Values) {
	include := strings.Split(q.Get("include"), ",")
	var entries [][2]string // name and text
	seen := map[string]bool{}
	for name, all := range s.blobs {
		rest, ok := strings.CutPrefix(name, q.Get("prefix"))
		if below, _, nested := strings.Cut(rest, "/"); ok && nested && q.Get("delimiter") == "/" {
			if p := q.Get("prefix") + below + "/"; !seen[p] && s.live[name] {
				seen[p] = true
				entries = append(entries, [2]string{p, "<BlobPrefix><Name>" + p + "</Name></BlobPrefix>"})
			}
			continue
		}
		for _, b := range all {
			current := s.live[name] && b == all[len(all)-1]
			if ok && (current || slices.Contains(include, "versions")) {
				entries = append(entries, [2]string{name + b.version, b.entry(current, include)})
			}
		}
	}
	if slices.Contains(include, "uncommittedblobs") {
		for name := range s.blocks {
			if strings.HasPrefix(name, q.Get("prefix")) && !s.live[name] {
				entries = append(entries, [2]string{name, "<Blob><Name>" + name + "</Name><Properties><Content-Length>0</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>"})
			}
		}
	}
	slices.SortFunc(entries, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("marker"), "2!76!"))
	size := 2
	if n, err := strconv.Atoi(q.Get("maxresults")); err == nil {
		size = min(size, n)
	}
	to := min(from+size, len(entries))
	fmt.Fprint(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"http://x/\" ContainerName=\"c\"><Blobs>")
	for _, e := range entries[from:to] {
		fmt.Fprint(w, e[1])
	}
	next := ""
	if to < len(entries) {
		next = fmt.Sprintf("2!76!%d", to)
	}
	fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
}

func (b *blob) entry(current bool, include []string) string {
	var name bytes.Buffer
	_ = xml.EscapeText(&name, []byte(b.name))
	text := "<Blob><Name>" + name.String() + "</Name>"
	if slices.Contains(include, "versions") && b.version != "" {
		text += "<VersionId>" + b.version + "</VersionId>"
		if current {
			text += "<IsCurrentVersion>true</IsCurrentVersion>"
		}
	}
	text += fmt.Sprintf("<Properties><Last-Modified>%s</Last-Modified><Etag>%s</Etag><Content-Length>%d</Content-Length><BlobType>%s</BlobType>",
		b.made.UTC().Format(http.TimeFormat), strings.Trim(b.etag, `"`), len(b.data), b.kind)
	if b.hashed {
		text += "<Content-MD5>x</Content-MD5>"
	}
	text += "</Properties><Metadata>"
	if slices.Contains(include, "metadata") {
		for name, value := range b.meta {
			text += "<" + name + ">" + value + "</" + name + ">"
		}
	}
	return text + "</Metadata><OrMetadata /></Blob>"
}

// batch answers the requests of a batch in reverse order, and ends each answer with its head.
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
		if err != nil || part.Header.Get("Content-Type") != "application/http" || part.Header.Get("Content-Transfer-Encoding") != "binary" {
			s.wrong(w, r, "a part: %v", err)
			return
		}
		text, _ := io.ReadAll(part)
		inner, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(append(text, "\r\n"...))))
		if err != nil || inner.Method != http.MethodDelete || !strings.HasPrefix(inner.URL.Path, "/"+testContainer+"/") || inner.Header.Get("X-Ms-Version") != "" {
			s.wrong(w, r, "a request in a batch: %v in %q", err, text)
			return
		}
		rec := httptest.NewRecorder()
		if why := s.unauthorized(inner, 0); why != "" {
			s.say(rec, http.StatusForbidden, "AuthenticationFailed", "no", why)
		} else {
			s.route(rec, inner)
		}
		answer := fmt.Sprintf("Content-Type: application/http\r\nContent-ID: %s\r\n\r\nHTTP/1.1 %d %s\r\nx-ms-error-code: %s\r\n",
			part.Header.Get("Content-Id"), rec.Code, http.StatusText(rec.Code), rec.Header().Get("x-ms-error-code"))
		if rec.Body.Len() > 0 {
			answer += "\r\n" + rec.Body.String()
		}
		answers = append(answers, answer)
	}
	if len(answers) > 256 {
		s.wrong(w, r, "%d requests in a batch", len(answers))
		return
	}
	slices.Reverse(answers)
	w.Header().Set("Content-Type", "multipart/mixed; boundary=batchresponse_x")
	w.WriteHeader(http.StatusAccepted)
	for _, a := range answers {
		fmt.Fprintf(w, "--batchresponse_x\r\n%s\r\n", a)
	}
	fmt.Fprint(w, "--batchresponse_x--\r\n")
}
