package distributed

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warp/internal/check"
	"warp/internal/testlog"
	"warp/internal/teststore"
)

// The counters of a store agree with the rows of the coordinator's log. They also include the
// requests that are not measured: the run's markers in the bucket, and trials.
func TestStoreCounters(t *testing.T) {
	t.Parallel()
	s := teststore.Start(t, teststore.MinIO, teststore.Options{Env: []string{"MINIO_PROMETHEUS_AUTH_TYPE=public"}})
	w := watchStore(t, s.Endpoints[0])
	c := &cluster{coordinator: &host{dir: t.TempDir()}}
	for range 4 {
		c.clients = append(c.clients, &host{addr: teststore.FreeAddress(t), dir: t.TempDir()})
	}
	c.clients[1].ahead(t, "-200ms")
	c.startClients(t)
	c.target = []string{"--host=" + w.addr, "--access-key=" + s.AccessKey, "--secret-key=" + s.SecretKey, "--region=" + s.Region}
	for _, test := range []struct {
		args []string
		rows map[string]string // rows of an operation in the store's counters
	}{
		{[]string{"get", "--objects=20"}, map[string]string{"GET": "GetObject", "PUT": "PutObject"}},
		{[]string{"put"}, map[string]string{"PUT": "PutObject"}},
		{[]string{"stat", "--objects=20"}, map[string]string{"STAT": "HeadObject", "PUT": "PutObject"}},
		{[]string{"mixed", "--objects=40"}, map[string]string{"GET": "GetObject", "STAT": "HeadObject", "DELETE": "DeleteObject"}},
		{[]string{"delete", "--objects=200", "--batch=5"}, map[string]string{"DELETE": "DeleteMultipleObjects", "PUT": "PutObject"}},
		{[]string{"list", "--objects=30"}, map[string]string{"LIST": "ListObjectsV2", "PUT": "PutObject"}},
		{[]string{"multipart", "--parts=2", "--part.size=5MiB"}, map[string]string{"GET": "GetObject", "PUT": "PutObjectPart"}},
		{[]string{"multipart-put", "--parts=2", "--part.size=5MiB"}, map[string]string{"PUTPART": "PutObjectPart", "UPLOAD": "CompleteMultipartUpload"}},
	} {
		name := test.args[0]
		before := storeCounters(t, s.Endpoints[0])
		w.reset()
		args := append(test.args, c.list(), "--duration=2s", "--benchdata="+name, "--concurrent=2", "--rps-limit=100", "--no-color", "--drain=2m",
			"--keep-data", "--bucket=counted-"+name) // cleaning up would be many more requests
		if !strings.HasPrefix(name, "multipart") {
			args = append(args, "--obj.size=4KiB")
		}
		c.coordinator.start(t, append(args, c.target...)...).ends(t, 0, "4 clients began within")
		total, own := w.seen()
		counted := storeCounters(t, s.Endpoints[0])
		// The store counts a request when it has finished it, which can be after the answer.
		for range 100 {
			if counts(counted, before, total) == "" {
				break
			}
			time.Sleep(200 * time.Millisecond)
			counted = storeCounters(t, s.Endpoints[0])
		}
		if wrong := counts(counted, before, total); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
		rows := rowsOf(t, filepath.Join(c.coordinator.dir, name+".csv.zst"))
		t.Logf("%s: rows %v; the store counts %v, without the run's own notes %v", name, rows, total, own)
		for op, api := range test.rows {
			if rows[op] == 0 || rows[op] != own[api] {
				t.Errorf("%s: %d rows %s, and the store saw %d requests %s", name, rows[op], op, own[api], api)
			}
		}
	}
}

// counts returns the counters of a store that are not higher than before by total.
func counts(now, before, total map[string]int) (wrong string) {
	for api, n := range now {
		if n -= before[api]; n != total[api] {
			wrong += fmt.Sprintf("the store counts %d requests %s, and %d passed on the way to it; ", n, api, total[api])
		}
	}
	return wrong
}

// rowsOf counts the successful rows of a log.
func rowsOf(t *testing.T, path string) map[string]int {
	t.Helper()
	_, all := testlog.ReadFile(t, path)
	rows := map[string]int{}
	for i := range all {
		if all[i].Err != "" {
			t.Errorf("%s: %s", path, all[i].Err)
		}
		rows[all[i].Op]++
	}
	return rows
}

// A watch is in front of a store and separates requests for a run's objects from others.
type watch struct {
	addr       string
	mu         sync.Mutex
	total, own map[string]int // by the names of the store's counters
}

// apiOf returns the name of the request in MinIO's counters.
func apiOf(r *http.Request) string {
	q := r.URL.Query()
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case key == "":
		return bucketAPI(r.Method, q)
	case r.Method == "GET" && q.Has("uploadId"):
		return "ListObjectParts"
	case r.Method == "GET":
		return "GetObject"
	case r.Method == "HEAD":
		return "HeadObject"
	case r.Method == "PUT" && q.Has("uploadId"):
		return "PutObjectPart"
	case r.Method == "PUT":
		return "PutObject"
	case r.Method == "POST" && q.Has("uploads"):
		return "NewMultipartUpload"
	case r.Method == "POST" && q.Has("uploadId"):
		return "CompleteMultipartUpload"
	case r.Method == "DELETE" && q.Has("uploadId"):
		return "AbortMultipartUpload"
	case r.Method == "DELETE":
		return "DeleteObject"
	}
	return "?"
}

func bucketAPI(method string, q url.Values) string {
	switch {
	case method == "POST" && q.Has("delete"):
		return "DeleteMultipleObjects"
	case method == "GET" && q.Get("list-type") == "2":
		return "ListObjectsV2"
	}
	return "?" // irrelevant
}

var (
	ownObject = regexp.MustCompile(`/c[0-9]+/.*\.rnd$`)                 // each client has a separate directory
	ownFolder = regexp.MustCompile(`/c[0-9]+/\w+/$`)                    // and each worker has one in it
	oneObject = regexp.MustCompile(`/counted-multipart/warp-multipart`) // objects of that benchmark are not in a directory, but trials are
)

func (w *watch) note(r *http.Request) {
	api := apiOf(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total[api]++
	objects := ownObject
	if strings.HasPrefix(r.URL.Path, "/counted-multipart/") {
		objects = oneObject
	}
	if api == "PutObjectPart" && r.URL.Query().Get("partNumber") == "10000" {
		return // it marks the owner of the upload, and is not part of the object
	}
	if objects.MatchString(r.URL.Path) || ownFolder.MatchString(r.URL.Query().Get("prefix")) || api == "DeleteMultipleObjects" {
		w.own[api]++
	}
}

func (w *watch) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.total)
	clear(w.own)
}

func (w *watch) seen() (total, own map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.total), maps.Clone(w.own)
}

func watchStore(t *testing.T, store string) *watch {
	t.Helper()
	w := &watch{total: map[string]int{}, own: map[string]int{}}
	w.addr = passOn(t, "127.0.0.1", store, w.note)
	return w
}

// storeCounters returns the number of requests that MinIO has counted, by kind.
func storeCounters(t *testing.T, addr string) map[string]int {
	t.Helper()
	answer, err := http.Get("http://" + addr + "/minio/metrics/v3/api/requests")
	check.OK(t, err)
	defer answer.Body.Close()
	n := map[string]int{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		name, value := counterName.FindStringSubmatch(line), line[strings.LastIndexByte(line, ' ')+1:]
		if name == nil || apis[name[1]] == false {
			continue
		}
		count, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		n[name[1]] += int(count)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the store's counters: %s", answer.Status)
	}
	return n
}

var (
	counterName = regexp.MustCompile(`^minio_api_requests_total\{name="(\w+)"`)
	apis        = map[string]bool{"GetObject": true, "HeadObject": true, "PutObject": true, "PutObjectPart": true, "ListObjectsV2": true,
		"DeleteObject": true, "DeleteMultipleObjects": true, "CompleteMultipartUpload": true, "NewMultipartUpload": true}
)
