package safety

import (
	"slices"
	"testing"

	"warp/internal/standin"
	"warp/internal/teststore"
)

// aistore is AIStore, as a stand-in. Each test has a separate cluster.
func aistore() *ownAPI {
	const name = "AIStore (stand-in)"
	var cluster *standin.AIStore
	return &ownAPI{store: name,
		open: func(t *testing.T) *teststore.Store {
			cluster = standin.StartAIStore(t, standin.AIStoreOptions{Polls: 1})
			return &teststore.Store{Name: name, Provider: "ais", Endpoint: cluster.Host()}
		},
		makeBucket: func(b *bucket) error { cluster.AddBucket(b.name); return nil },
		put:        func(b *bucket, key, content string) error { cluster.Put(b.name, key, []byte(content)); return nil },
		look: func(b *bucket) map[string]item {
			all := make(map[string]item)
			for key, state := range cluster.Objects(b.name) {
				all[key] = item{ETag: state}
			}
			return all
		},
		lacks: func(args []string) bool {
			return slices.Contains(args, "--post") || slices.Contains([]string{"multipart", "multipart-put", "copy"}, args[0])
		},
		foreign: map[string]string{".warp/made-by-somebody": "no mark of warp's"},
	}
}
