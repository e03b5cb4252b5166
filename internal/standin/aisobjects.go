package standin

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"hash"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// An aisTarget is a node that stores objects.
type aisTarget struct {
	cluster *AIStore
	number  int
}

// listenAt makes a server listen at another address, on any port.
func listenAt(t testing.TB, server *httptest.Server, address string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	server.Listener.Close()
	server.Listener = l
}

// aisSum returns the checksum of a type, or "" if the type is unknown or none.
func aisSum(kind string, data []byte) string {
	var h hash.Hash
	switch kind {
	case "xxhash", "xxhash2":
		h = xxhash.New()
	case "crc32c":
		h = crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "md5":
		h = md5.New()
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	default:
		return ""
	}
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func newAISObject(data []byte, kind string, version int) *aisObject {
	return &aisObject{data: data, kind: kind, sum: aisSum(kind, data), atime: time.Now(), version: version, custom: map[string]string{}}
}

// ServeHTTP answers requests about objects that a proxy has redirected here.
func (n *aisTarget) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	a := n.cluster
	a.note("target", r, int64(len(body)))
	bucket, key, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/objects/"), "/")
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.find(r, bucket)
	switch {
	case !ok || !strings.HasPrefix(r.URL.Path, "/v1/objects/"):
		aisError(w, r, http.StatusBadRequest, "invalid route %s", r.URL.Path)
	case r.URL.Query().Get("pid") == "":
		aisError(w, r, http.StatusBadRequest, "the request was not redirected")
	case b == nil:
		a.noBucket(w, r, bucket)
	case a.owner(b, key) != n.number:
		aisError(w, r, http.StatusBadRequest, "misdirected: %s is not here", b.cname(key))
	case r.Method == http.MethodPut:
		n.put(w, r, b, key, body)
	case b.objects[key] == nil:
		aisError(w, r, http.StatusNotFound, "t[standin]: %s does not exist", b.cname(key))
	default:
		n.existing(w, r, b, key, body)
	}
}

func (n *aisTarget) put(w http.ResponseWriter, r *http.Request, b *aisBucket, key string, data []byte) {
	kind, sum := r.Header.Get("ais-checksum-type"), r.Header.Get("ais-checksum-value")
	if r.ContentLength < 0 {
		aisError(w, r, http.StatusLengthRequired, "no content length")
		return
	}
	if kind != "" && aisSum(kind, data) != sum {
		aisError(w, r, http.StatusBadRequest, "BAD DATA CHECKSUM: (%s != %s)", sum, aisSum(kind, data))
		return
	}
	version := 1
	if old := b.objects[key]; old != nil {
		version = old.version + 1
	}
	o := newAISObject(data, b.checksum(), version)
	for _, entry := range r.Header["Ais-Custom-Md"] {
		if name, value, ok := strings.Cut(entry, "="); ok {
			o.custom[name] = value
		}
	}
	b.objects[key] = o
	o.describe(w.Header())
}

// describe sets the headers that describe an object.
func (o *aisObject) describe(h http.Header) {
	if o.sum != "" {
		h.Set("Ais-Checksum-Type", o.kind)
		h.Set("Ais-Checksum-Value", o.sum)
	}
	h.Set("Ais-Atime", strconv.FormatInt(o.atime.UnixNano(), 10))
	h.Set("Ais-Version", strconv.Itoa(o.version))
	for name, value := range o.custom {
		h.Add("Ais-Custom-Md", name+"="+value)
	}
}

// existing answers requests about an existing object.
func (n *aisTarget) existing(w http.ResponseWriter, r *http.Request, b *aisBucket, key string, body []byte) {
	o := b.objects[key]
	switch r.Method {
	case http.MethodGet:
		n.get(w, r, o)
	case http.MethodHead:
		o.head(w, r)
	case http.MethodDelete:
		delete(b.objects, key)
	case http.MethodPatch:
		var said struct {
			Value map[string]string `json:"value"`
		}
		if json.Unmarshal(body, &said) != nil {
			aisError(w, r, http.StatusBadRequest, "bad action message")
			return
		}
		for name, value := range said.Value {
			o.custom[name] = value
		}
	default:
		aisError(w, r, http.StatusMethodNotAllowed, "method %s", r.Method)
	}
}

func (n *aisTarget) get(w http.ResponseWriter, r *http.Request, o *aisObject) {
	data := o.data
	if name := r.URL.Query().Get("etl_name"); name != "" {
		what, ok := n.cluster.transforms[name]
		if !ok {
			aisError(w, r, http.StatusNotFound, "etl job %q does not exist", name)
			return
		}
		if what == "md5" {
			data = []byte(aisSum("md5", data))
		}
	} else {
		o.describe(w.Header())
	}
	o.atime, o.remote = time.Now(), false
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// head returns the requested properties, or all of them if none are named.
func (o *aisObject) head(w http.ResponseWriter, r *http.Request) {
	all := http.Header{}
	o.describe(all)
	w.Header().Set("Ais-Present", strconv.FormatBool(!o.remote))
	asked := r.URL.Query().Get("props")
	if asked == "" {
		asked = "checksum,atime,version,custom"
	}
	headers := map[string][]string{"checksum": {"Ais-Checksum-Type", "Ais-Checksum-Value"}, "atime": {"Ais-Atime"}, "version": {"Ais-Version"}, "custom": {"Ais-Custom-Md"},
		"name": nil, "size": nil, "copies": nil, "ec": nil, "location": nil, "chunked": nil}
	for name := range strings.SplitSeq(asked, ",") {
		wanted, ok := headers[name]
		if !ok {
			aisError(w, r, http.StatusBadRequest, "invalid property %q", name)
			return
		}
		for _, header := range wanted {
			w.Header()[header] = slices.Clone(all[header])
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(o.data)))
}
