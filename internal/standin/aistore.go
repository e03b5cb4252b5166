package standin

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An AIStore is a cluster of AIStore with its own API as documented: a proxy, which redirects
// requests about objects to one of several targets, buckets with backends and properties, listings
// with continuation tokens in JSON and in MessagePack, jobs that delete, and transformations if it
// runs on Kubernetes.
type AIStore struct {
	URL     string   // of the proxy
	Targets []string // URLs

	opts     AIStoreOptions
	received atomic.Int64 // bytes received by the proxy

	mu         sync.Mutex
	buckets    map[string]*aisBucket
	jobs       map[string]*aisJob
	transforms map[string]string // the effect of each, by name
	seen       []AISSeen
}

// AIStoreOptions are the properties of a cluster.
type AIStoreOptions struct {
	Targets    int    // 0 = 2
	Token      string // token of AuthN that the proxy requires; "" = no AuthN
	Kubernetes bool
	Polls      int // number of times that the status of a job is "running"
	// TargetAddr is the address at which targets listen, different from the proxy's; "" = the same.
	TargetAddr string
	// HideTargets omits the targets from the cluster's map.
	HideTargets bool
}

// An AISSeen is a request that the cluster has received.
type AISSeen struct {
	Node, Method, Path, Query string // proxy or target
	Token                     bool   // it carried one
	Body                      int64  // received bytes
}

type aisBucket struct {
	backend, name string
	props         map[string]any
	objects       map[string]*aisObject
}

type aisObject struct {
	data      []byte
	sum, kind string // checksum and its type
	atime     time.Time
	version   int
	custom    map[string]string
	remote    bool // behind the cluster, and not in it yet
}

// StartAIStore starts a cluster.
func StartAIStore(t testing.TB, o AIStoreOptions) *AIStore {
	t.Helper()
	if o.Targets == 0 {
		o.Targets = 2
	}
	a := &AIStore{opts: o, buckets: make(map[string]*aisBucket), jobs: make(map[string]*aisJob), transforms: make(map[string]string)}
	for i := range o.Targets {
		node := &aisTarget{a, i}
		server := httptest.NewUnstartedServer(node)
		if o.TargetAddr != "" {
			listenAt(t, server, o.TargetAddr)
		}
		server.Start()
		t.Cleanup(server.Close)
		a.Targets = append(a.Targets, server.URL)
	}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(a.serveProxy))
	proxy.Listener = &countingListener{proxy.Listener, &a.received}
	proxy.Start()
	t.Cleanup(proxy.Close)
	a.URL = proxy.URL
	return a
}

// A countingListener counts the bytes that its connections receive.
type countingListener struct {
	net.Listener
	received *atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{c, l.received}, nil
}

type countingConn struct {
	net.Conn
	received *atomic.Int64
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

// Received returns how many bytes the proxy has received so far, including heads of requests.
func (a *AIStore) Received() int64 { return a.received.Load() }

// Host returns the proxy's address.
func (a *AIStore) Host() string { return strings.TrimPrefix(a.URL, "http://") }

// Seen returns the requests so far.
func (a *AIStore) Seen() []AISSeen {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

// AddRemote adds a bucket of another backend, with objects that are not in the cluster yet.
func (a *AIStore) AddRemote(backend, name string, objects map[string][]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := newAISBucket(backend, name)
	for key, data := range objects {
		b.objects[key] = newAISObject(data, b.checksum(), 1)
		b.objects[key].remote = true
	}
	a.buckets[b.id()] = b
}

// Put stores an object in one of the cluster's own buckets, which it creates if necessary.
func (a *AIStore) Put(bucket, key string, data []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := newAISBucket("ais", bucket)
	if have := a.buckets[b.id()]; have != nil {
		b = have
	}
	a.buckets[b.id()] = b
	b.objects[key] = newAISObject(data, b.checksum(), 1)
}

// Keys returns the names of the objects in one of the cluster's own buckets.
func (a *AIStore) Keys(bucket string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b := a.buckets["ais//"+bucket]; b != nil {
		return slices.Sorted(maps.Keys(b.objects))
	}
	return nil
}

// AddBucket adds a bucket to the cluster itself.
func (a *AIStore) AddBucket(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := newAISBucket("ais", name)
	a.buckets[b.id()] = b
}

// Objects returns a description of every object in one of the cluster's own buckets, by name:
// everything except when it was used.
func (a *AIStore) Objects(bucket string) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make(map[string]string)
	if b := a.buckets["ais//"+bucket]; b != nil {
		for key, o := range b.objects {
			all[key] = fmt.Sprintf("%d bytes, %s %s, version %d, %v", len(o.data), o.kind, o.sum, o.version, o.custom)
		}
	}
	return all
}

// Properties returns the properties of a bucket that were set, or nil if the bucket does not exist.
func (a *AIStore) Properties(name string) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.buckets["ais//"+name]
	if b == nil {
		return nil
	}
	return b.props
}

func newAISBucket(backend, name string) *aisBucket {
	return &aisBucket{backend: backend, name: name, objects: make(map[string]*aisObject), props: map[string]any{
		"provider": backend, "checksum": map[string]any{"type": "xxhash2"}, "versioning": map[string]any{"enabled": true},
		"mirror": map[string]any{"copies": 2, "enabled": false}, "ec": map[string]any{"enabled": false}, "created": strconv.FormatInt(time.Now().UnixNano(), 10),
	}}
}

func (b *aisBucket) id() string { return b.backend + "//" + b.name }

// cname returns the name of a bucket, or of an object in it, in messages.
func (b *aisBucket) cname(key string) string {
	if key == "" {
		return b.backend + "://" + b.name
	}
	return b.backend + "://" + b.name + "/" + key
}

func (b *aisBucket) checksum() string {
	kind, _ := b.props["checksum"].(map[string]any)["type"].(string)
	return kind
}

// set sets properties. All of them have to exist.
func (b *aisBucket) set(props map[string]any) error {
	for name, value := range props {
		if _, ok := b.props[name]; !ok {
			return fmt.Errorf("unknown property %q", name)
		}
		into, isMap := b.props[name].(map[string]any)
		fields, ok := value.(map[string]any)
		if isMap != ok {
			return fmt.Errorf("property %q is of another form", name)
		}
		if !isMap {
			b.props[name] = value
			continue
		}
		for field, value := range fields {
			into[field] = value
		}
	}
	return nil
}

func (a *AIStore) note(node string, r *http.Request, body int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, AISSeen{node, r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization") != "", body})
}

// aisError answers with an error in the form of the cluster's nodes.
func aisError(w http.ResponseWriter, r *http.Request, status int, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	w.Header().Set("Hdr-Error", message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(map[string]any{"message": message, "method": r.Method, "url_path": r.URL.Path,
			"remote_addr": r.RemoteAddr, "caller": "", "node": "p[standin]", "status": status})
	}
}

func aisJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

// serveProxy handles requests to the proxy.
func (a *AIStore) serveProxy(w http.ResponseWriter, r *http.Request) {
	a.note("proxy", r, 0)
	if a.opts.Token != "" && r.Header.Get("Authorization") != "Bearer "+a.opts.Token {
		aisError(w, r, http.StatusUnauthorized, "token required")
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch {
	case !strings.HasPrefix(r.URL.Path, "/v1/"):
		aisError(w, r, http.StatusNotFound, "no such path")
	case words[0] == "objects" && len(words) > 2:
		a.redirect(w, r, words[1], strings.Join(words[2:], "/"))
	case words[0] == "buckets":
		a.serveBucket(w, r, strings.TrimSuffix(strings.Join(words[1:], "/"), "/"))
	case words[0] == "cluster" || words[0] == "daemon":
		a.serveCluster(w, r)
	case words[0] == "health":
	case words[0] == "etl":
		a.serveETL(w, r, words[1:])
	default:
		aisError(w, r, http.StatusBadRequest, "invalid route %s", r.URL.Path)
	}
}

// find returns a bucket. The caller holds the lock.
func (a *AIStore) find(r *http.Request, name string) *aisBucket {
	backend := r.URL.Query().Get("provider")
	switch backend {
	case "":
		backend = "ais"
	case "s3":
		backend = "aws"
	case "gs":
		backend = "gcp"
	}
	return a.buckets[backend+"/"+r.URL.Query().Get("namespace")+"/"+name]
}

func (a *AIStore) noBucket(w http.ResponseWriter, r *http.Request, name string) {
	aisError(w, r, http.StatusNotFound, "bucket %q does not exist", "ais://"+name)
}

// redirect redirects a request about an object to its target, with 301 for a GET and 307 otherwise.
func (a *AIStore) redirect(w http.ResponseWriter, r *http.Request, bucket, key string) {
	a.mu.Lock()
	b := a.find(r, bucket)
	a.mu.Unlock()
	if b == nil {
		a.noBucket(w, r, bucket)
		return
	}
	query := r.URL.RawQuery
	if query != "" {
		query += "&"
	}
	to := a.Targets[a.owner(b, key)] + r.URL.EscapedPath() + "?" + query + "pid=p%5Bstandin%5D&utm=" + strconv.FormatInt(time.Now().UnixNano(), 10)
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet {
		status = http.StatusMovedPermanently
	}
	http.Redirect(w, r, to, status)
}

// owner returns the number of the target that stores an object.
func (a *AIStore) owner(b *aisBucket, key string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, b.id()+"/"+key)
	return int(h.Sum32() % uint32(len(a.Targets)))
}

// serveCluster answers requests about the cluster.
func (a *AIStore) serveCluster(w http.ResponseWriter, r *http.Request) {
	switch what := r.URL.Query().Get("what"); what {
	case "cluster_config", "config":
		aisJSON(w, map[string]any{"uuid": "standin", "version": "1", "checksum": map[string]any{"type": "xxhash2"}, "versioning": map[string]any{"enabled": true}})
	case "smap":
		aisJSON(w, a.clusterMap())
	case "status":
		a.serveJob(w, r)
	default:
		aisError(w, r, http.StatusBadRequest, "unexpected query [what=%s]", what)
	}
}

func (a *AIStore) clusterMap() map[string]any {
	node := func(kind, address string, n int) map[string]any {
		u, _ := url.Parse(address)
		return map[string]any{"daemon_id": kind + strconv.Itoa(n), "daemon_type": kind, "id_digest": n + 1,
			"public_net": map[string]any{"node_hostname": u.Hostname(), "daemon_port": u.Port(), "direct_url": address}}
	}
	targets := map[string]any{}
	for i, address := range a.Targets {
		if a.opts.HideTargets {
			break
		}
		targets["target"+strconv.Itoa(i)] = node("target", address, i)
	}
	proxy := node("proxy", a.URL, 0)
	return map[string]any{"uuid": "standin", "version": "1", "creation_time": "now", "tmap": targets, "pmap": map[string]any{"proxy0": proxy}, "proxy_si": proxy}
}
