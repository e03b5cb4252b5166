package standin

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/pkg/s3mem"
)

// An Express is S3 Express One Zone as AWS documents it: directory buckets, sessions that expire,
// requests signed with the keys of a session or of the user, unordered listings of directories, and
// appends. For hosts of Amazon's it expects bucket names in host names, and for other hosts in
// paths.
type Express struct {
	Addr   string
	Region string
	User   Key
	Lasts  time.Duration // lifetime of sessions
	// Creating is called before a session is created, if it is set.
	Creating func(bucket string)
	CA       []byte // of the certificate; nil without TLS

	mem    http.Handler
	server *httptest.Server

	journal

	mu       sync.Mutex
	sessions map[string]session // by token
	created  map[string]int     // sessions by bucket
}

type session struct {
	Key
	bucket string
	ends   time.Time
}

// NewExpress returns a stand-in that is not started.
func NewExpress(store *s3mem.Embedded) *Express {
	return &Express{mem: store, Region: "us-east-1", User: Key{Access: "useraccess", Secret: "usersecret"}, Lasts: 5 * time.Minute,
		sessions: make(map[string]session), created: make(map[string]int)}
}

// Start starts the server.
func (e *Express) Start(t testing.TB, tls bool) {
	t.Helper()
	e.server = httptest.NewUnstartedServer(e)
	if tls {
		e.CA = startTLS(t, e.server)
	} else {
		e.server.Start()
	}
	t.Cleanup(e.server.Close)
	e.Addr = e.server.Listener.Addr().String()
}

// MakeBucket creates a bucket without a request.
func (e *Express) MakeBucket(t testing.TB, bucket string) {
	t.Helper()
	answer := httptest.NewRecorder()
	e.mem.ServeHTTP(answer, httptest.NewRequest(http.MethodPut, "/"+bucket, nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("bucket %s: status %d: %s", bucket, answer.Code, answer.Body)
	}
}

// Created returns how many sessions of a bucket were created.
func (e *Express) Created(bucket string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.created[bucket]
}

// Revoke ends all sessions.
func (e *Express) Revoke() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for token, s := range e.sessions {
		s.ends = time.Time{}
		e.sessions[token] = s
	}
}

// A refusal is an error that the store answers with.
type refusal struct {
	status        int
	code, message string
	expected      bool // not the client's mistake
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func (e *Express) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.note(r) {
		return
	}
	err := e.serve(w, r)
	if err == nil {
		return
	}
	var said *refusal
	if !errors.As(err, &said) {
		said = &refusal{status: 403, code: "SignatureDoesNotMatch", message: err.Error()}
	}
	if !said.expected {
		e.blame(r, err)
	}
	w.WriteHeader(said.status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>see the test</Message></Error>", said.code)
}

var directoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*--([a-z0-9-]+)--x-s3$`)

// split returns bucket and key. For hosts of Amazon's the bucket is in the host name.
func (e *Express) split(r *http.Request) (bucket, key string, err error) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	rest, amazon := strings.CutSuffix(host, "."+e.Region+".amazonaws.com")
	if !amazon || rest == "s3express-control" {
		bucket, key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if amazon && (r.Method != http.MethodPut || key != "") {
			return "", "", errors.New("the control endpoint makes buckets")
		}
	} else {
		var zonal string
		bucket, zonal, _ = strings.Cut(rest, ".")
		key = strings.TrimPrefix(r.URL.Path, "/")
		if m := directoryName.FindStringSubmatch(bucket); m == nil || zonal != "s3express-"+m[1] {
			return "", "", fmt.Errorf("%s is not a zonal endpoint with the bucket's name", r.Host)
		}
	}
	if !directoryName.MatchString(bucket) {
		return "", "", fmt.Errorf("%q is not a directory bucket", bucket)
	}
	return bucket, key, nil
}

func (e *Express) serve(w http.ResponseWriter, r *http.Request) error {
	bucket, key, err := e.split(r)
	if err != nil {
		return err
	}
	signed, err := ParseSignature(r)
	switch {
	case err != nil:
		return err
	case signed.Service != "s3express" || signed.Region != e.Region:
		return fmt.Errorf("signed for the service %q in %q", signed.Service, signed.Region)
	}
	query := r.URL.Query()
	who, err := e.who(r, bucket, key, query)
	if err != nil {
		return err
	}
	if signed.Access != who.Access {
		return fmt.Errorf("signed by %q", signed.Access)
	}
	payload, err := signed.payload(r, who.Secret)
	if err != nil {
		return err
	}
	if err := refused(r, query); err != nil {
		return err
	}
	inner := r.Clone(r.Context())
	inner.Body = r.Body
	inner.Header.Del("X-Amz-S3session-Token")
	inner.Header.Del("X-Amz-Security-Token")
	inner.URL = &url.URL{Path: "/" + bucket + "/" + key, RawQuery: r.URL.RawQuery}
	inner.RequestURI = inner.URL.RequestURI()
	switch {
	case query.Has("session"):
		return e.create(w, bucket)
	case r.Method == http.MethodPut && key == "":
		if !bytes.Contains(payload, []byte("<Type>Directory</Type>")) {
			return errors.New("the bucket is not to be a directory bucket")
		}
		inner.Body, inner.ContentLength = http.NoBody, 0
	case r.Header.Get("X-Amz-Write-Offset-Bytes") != "":
		return e.append(w, inner, payload)
	case r.Header.Get("X-Amz-Copy-Source") != "":
		return e.copy(w, inner)
	case query.Has("list-type"):
		return e.list(w, inner)
	}
	e.mem.ServeHTTP(w, inner)
	return nil
}

// who checks who signed a request: the user, or the owner of the session.
func (e *Express) who(r *http.Request, bucket, key string, query url.Values) (Key, error) {
	token := r.Header.Get("X-Amz-S3session-Token")
	byUser := query.Has("session") || r.Method == http.MethodHead && key == "" || r.Header.Get("X-Amz-Copy-Source") != "" ||
		r.Method == http.MethodPut && key == ""
	switch {
	case byUser && token != "":
		return Key{}, errors.New("the request takes the user's keys, and comes with a session")
	case byUser && r.Header.Get("X-Amz-Security-Token") != e.User.Token:
		return Key{}, errors.New("the user has another token")
	case byUser:
		return e.User, nil
	case token == "" || r.Header.Get("X-Amz-Security-Token") != "":
		return Key{}, errors.New("the request takes the keys of a session, and no other token")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.sessions[token]
	switch {
	case !ok || s.bucket != bucket:
		return Key{}, errors.New("the session is another bucket's")
	case time.Now().After(s.ends):
		return Key{}, &refusal{400, "ExpiredToken", "the session is over", true}
	}
	return s.Key, nil
}

// refused rejects functions that directory buckets do not have.
func refused(r *http.Request, query url.Values) error {
	for _, name := range []string{"versions", "versioning", "tagging", "object-lock", "retention", "acl", "location", "legal-hold"} {
		if query.Has(name) {
			return fmt.Errorf("directory buckets have no %s", name)
		}
	}
	prefix, delimiter := query.Get("prefix"), query.Get("delimiter")
	switch {
	case prefix != "" && !strings.HasSuffix(prefix, "/") && (query.Has("list-type") || query.Has("uploads")):
		return fmt.Errorf("the prefix %q is not a directory", prefix)
	case delimiter != "" && delimiter != "/":
		return fmt.Errorf("the delimiter is %q", delimiter)
	case query.Has("start-after"):
		return errors.New("start-after is not supported")
	case r.Header.Get("X-Amz-Tagging") != "":
		return errors.New("directory buckets have no tags")
	}
	return nil
}

func (e *Express) create(w http.ResponseWriter, bucket string) error {
	if e.Creating != nil {
		e.Creating(bucket)
	}
	var random [24]byte
	_, _ = rand.Read(random[:])
	text := hex.EncodeToString(random[:])
	s := session{Key{"session" + text[:8], text[8:24], "token/" + text[24:] + "+="}, bucket, time.Now().Add(e.Lasts)}
	e.mu.Lock()
	e.sessions[s.Token] = s
	e.created[bucket]++
	e.mu.Unlock()
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><CreateSessionResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Credentials>`+
		`<SessionToken>%s</SessionToken><SecretAccessKey>%s</SecretAccessKey><AccessKeyId>%s</AccessKeyId><Expiration>%s</Expiration></Credentials></CreateSessionResult>`,
		s.Token, s.Secret, s.Access, s.ends.UTC().Format(time.RFC3339Nano))
	return nil
}

// object reads an object, or returns nil if there is none.
func (e *Express) object(r *http.Request, path string) []byte {
	get := httptest.NewRequestWithContext(r.Context(), http.MethodGet, (&url.URL{Path: path}).EscapedPath(), nil)
	answer := httptest.NewRecorder()
	e.mem.ServeHTTP(answer, get)
	if answer.Code != http.StatusOK {
		return nil
	}
	return append([]byte{}, answer.Body.Bytes()...)
}

// write stores an object, and answers with its properties.
func (e *Express) write(r *http.Request, data []byte) *httptest.ResponseRecorder {
	put := httptest.NewRequestWithContext(r.Context(), http.MethodPut, r.URL.EscapedPath(), bytes.NewReader(data))
	put.Header.Set("Content-Length", strconv.Itoa(len(data)))
	answer := httptest.NewRecorder()
	e.mem.ServeHTTP(answer, put)
	return answer
}

func (e *Express) append(w http.ResponseWriter, r *http.Request, payload []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	data := e.object(r, r.URL.Path)
	if offset, err := strconv.Atoi(r.Header.Get("X-Amz-Write-Offset-Bytes")); err != nil || offset != len(data) {
		return &refusal{400, "InvalidWriteOffset", "the object has another size", true}
	}
	data = append(data, payload...)
	answer := e.write(r, data)
	w.Header().Set("ETag", answer.Header().Get("ETag"))
	w.Header().Set("X-Amz-Object-Size", strconv.Itoa(len(data)))
	w.WriteHeader(answer.Code)
	return nil
}

func (e *Express) copy(w http.ResponseWriter, r *http.Request) error {
	from, err := url.PathUnescape(r.Header.Get("X-Amz-Copy-Source"))
	data := e.object(r, "/"+strings.TrimPrefix(from, "/"))
	if err != nil || data == nil || r.URL.RawQuery != "" {
		return &refusal{501, "NotImplemented", "parts are not copied", true}
	}
	answer := e.write(r, data)
	fmt.Fprintf(w, "<CopyObjectResult><ETag>%s</ETag><LastModified>%s</LastModified></CopyObjectResult>",
		answer.Header().Get("ETag"), time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return nil
}

var listedObjects = regexp.MustCompile(`(?s)<Contents>.*?</Contents>`)

// list answers with a listing whose objects are out of order.
func (e *Express) list(w http.ResponseWriter, r *http.Request) error {
	answer := httptest.NewRecorder()
	e.mem.ServeHTTP(answer, r)
	all := listedObjects.FindAllString(answer.Body.String(), -1)
	i := len(all)
	text := listedObjects.ReplaceAllStringFunc(answer.Body.String(), func(string) string { i--; return all[i] })
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, text)
	return nil
}
