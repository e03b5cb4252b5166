package conformance

import (
	"net/url"
	"strings"
	"testing"

	"warp/internal/check"
	"warp/internal/teststore"
)

// azurite is Azure Blob Storage, as an emulator.
func azurite() *ownAPI {
	return &ownAPI{store: teststore.Azurite, keys: azureKeys, op: azureOp, title: "Azure Blob Storage",
		lacks:      []string{"put --post", "retention", "zip", "snowball", "fanout"},
		noVersions: "versioning is a property of the storage account",
	}
}

func azureKeys(t *testing.T, b *bed) (names []string, ok bool) {
	t.Helper()
	blobs, ok, err := b.store.Blobs(t.Context(), b.bucket)
	check.OK(t, err)
	for _, blob := range blobs {
		names = append(names, blob.Name)
	}
	return names, ok
}

// noTags is the document that deletes tags.
const noTags = `<?xml version="1.0" encoding="utf-8"?><Tags><TagSet></TagSet></Tags>`

// azureOp returns the operation that a request belongs to, and its object.
func azureOp(s *teststore.Seen) (op, key string) {
	q, _ := url.ParseQuery(s.Query)
	_, escaped, _ := strings.Cut(strings.TrimPrefix(s.Path, teststore.AzuritePath+"/"), "/")
	key, _ = url.PathUnescape(escaped)
	switch comp := q.Get("comp"); s.Method + " " + comp {
	case "GET list":
		return "LIST", ""
	case "POST batch":
		return "DELETE", ""
	case "PUT block":
		if s.BytesIn == 1 {
			return "", key // it starts an upload
		}
		return "PUTPART", key
	case "PUT blocklist":
		return "UPLOAD", key
	case "PUT appendblock":
		return "APPEND", key
	case "PUT tags":
		if s.BytesIn == int64(len(noTags)) {
			return "DELETETAGS", key
		}
		return "PUTTAGS", key
	case "GET tags":
		return "GETTAGS", key
	case "PUT ":
		switch {
		case s.Header.Get("X-Ms-Copy-Source") != "":
			return "COPY", key
		case s.Header.Get("X-Ms-Blob-Type") == "AppendBlob":
			return "APPEND", key
		}
	}
	if key == "" || q.Get("comp") != "" {
		return "", key
	}
	return map[string]string{"PUT": "PUT", "GET": "GET", "HEAD": "STAT", "DELETE": "DELETE"}[s.Method], key
}
