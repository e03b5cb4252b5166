package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warp/internal/standin"
	"warp/internal/teststore"
)

// aistoreName is the name of the stand-in in the matrix.
const aistoreName = "AIStore (stand-in)"

// aistore is AIStore, as a stand-in.
func aistore() *ownAPI {
	return &ownAPI{store: aistoreName, bed: newAIStoreBed, keys: aistoreKeys, op: aistoreOp, title: "AIStore",
		lacks: []string{"put --post", "versioned", "retention", "multipart", "multipart-put", "append", "zip", "snowball", "fanout", "copy", "tagging"},
	}
}

// newAIStoreBed returns a bed in a separate cluster, with a proxy in front of each of its nodes.
func newAIStoreBed(t *testing.T) *bed {
	t.Helper()
	cluster := standin.StartAIStore(t, standin.AIStoreOptions{Polls: 1})
	b := newOwnBed(t, &teststore.Store{Name: aistoreName, Provider: "ais", Endpoint: cluster.Host()})
	b.cluster = cluster
	for i, target := range cluster.Targets {
		node := teststore.NewProxy(t, strings.TrimPrefix(target, "http://"))
		b.nodes, cluster.Targets[i] = append(b.nodes, node), "http://"+node.Endpoint
	}
	return b
}

// aistoreKeys leaves out the mark of buckets made by warp.
func aistoreKeys(t *testing.T, b *bed) (names []string, ok bool) {
	t.Helper()
	for _, key := range b.cluster.Keys(b.bucket) {
		if key != ".warp/made-by-warp" {
			names = append(names, key)
		}
	}
	return names, b.cluster.Properties(b.bucket) != nil
}

// aistoreOp returns the operation that a request belongs to, and its object. A deletion of several
// objects is a job, whose status is requested until it has ended.
func aistoreOp(s *teststore.Seen) (op, key string) {
	rest, ok := strings.CutPrefix(s.Path, "/v1/objects/")
	if !ok {
		q, _ := url.ParseQuery(s.Query)
		switch {
		case q.Get("what") == "status" || s.Method == http.MethodDelete:
			return "DELETE", ""
		case s.Method == http.MethodGet && strings.HasPrefix(s.Path, "/v1/buckets/"):
			return "LIST", ""
		}
		return "", ""
	}
	_, escaped, _ := strings.Cut(rest, "/")
	key, _ = url.PathUnescape(escaped)
	return map[string]string{"PUT": "PUT", "GET": "GET", "HEAD": "STAT", "DELETE": "DELETE"}[s.Method], key
}
