package safety

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"warp/internal/teststore"
)

// azurite is Azure Blob Storage, as an emulator. An upload in parts consists of uncommitted blocks
// there, and foreign blocks are next to warp's.
func azurite() *ownAPI {
	return &ownAPI{store: teststore.Azurite, makeBucket: (*bucket).makeInAzure, put: (*bucket).putToAzure, look: (*bucket).lookAtAzure,
		lacks: func(args []string) bool {
			return slices.Contains(args, "--post") || args[0] == "copy" && slices.Contains(args, "--part.size=5MiB")
		},
		foreign: map[string]string{
			"photos/unfinished/committed": "a blob below an upload",
			".warp/0123456789.json/00001": "no marker",
		},
		parts:      []string{"multipart-put", "multipart"},
		unfinished: func(_ string, i item) bool { return strings.Contains(i.Content, "<UncommittedBlocks><Block>") },
	}
}

// makeInAzure creates a container with two incomplete foreign uploads, one of them below the prefix
// of a run.
func (b *bucket) makeInAzure() error {
	if err := b.inAzure(http.MethodPut, "", "restype=container", ""); err != nil {
		return err
	}
	for _, key := range []string{"photos/unfinished", ownName("", takenSeed) + ".unfinished"} {
		if err := b.inAzure(http.MethodPut, key, "comp=block&blockid=Zm9yZWlnbg%3D%3D", "a block"); err != nil {
			return err
		}
	}
	return nil
}

func (b *bucket) inAzure(method, key, query, body string) error {
	status, text, err := b.store.AskAzurite(b.t.Context(), method, b.name, key, query, body)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("%s %s: status %d: %s", method, key, status, text)
	}
	return err
}

func (b *bucket) putToAzure(key, content string) error {
	return b.inAzure(http.MethodPut, key, "", content)
}

func (b *bucket) lookAtAzure() map[string]item {
	b.t.Helper()
	ctx := b.t.Context()
	blobs, ok, err := b.store.Blobs(ctx, b.name)
	b.must(err)
	if !ok {
		b.t.Fatalf("there is no container %s", b.name)
	}
	all := make(map[string]item)
	for _, blob := range blobs {
		modified, err := http.ParseTime(blob.Modified)
		b.must(err)
		i := item{ETag: strings.Trim(blob.ETag, `"`) + " " + blob.MD5, Size: blob.Size, Modified: modified, Latest: true}
		if blob.MD5 == "" { // perhaps an incomplete upload
			_, i.Content, err = b.store.AskAzurite(ctx, http.MethodGet, b.name, blob.Name, "comp=blocklist&blocklisttype=all", "")
			b.must(err)
		}
		all[blob.Name] = i
	}
	return all
}
