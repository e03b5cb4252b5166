package bench

import (
	"net/http"
	"testing"

	"warp/pkg/store"
)

// A store that shows nothing of an option has not heeded it, where it would
// have to show something.
func TestMissingOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options store.Options
		shown   map[string]string
		lacks   string
	}{
		"nothing asked":        {},
		"class":                {store.Options{StorageClass: "COLD"}, map[string]string{"X-Amz-Storage-Class": "COLD"}, ""},
		"no class":             {store.Options{StorageClass: "COLD"}, nil, "the object is not of the class COLD"},
		"another class":        {store.Options{StorageClass: "COLD"}, map[string]string{"X-Amz-Storage-Class": "ICE"}, "the object is not of the class COLD"},
		"STANDARD":             {store.Options{StorageClass: "STANDARD"}, nil, ""},
		"SSE-S3":               {store.Options{Encryption: store.Encryption{Kind: store.SSES3}}, map[string]string{"X-Amz-Server-Side-Encryption": "AES256"}, ""},
		"no SSE-S3":            {store.Options{Encryption: store.Encryption{Kind: store.SSES3}}, nil, "the object is not encrypted"},
		"SSE-C":                {store.Options{Encryption: store.Encryption{Kind: store.SSEC}}, map[string]string{"X-Amz-Server-Side-Encryption-Customer-Algorithm": "AES256"}, ""},
		"SSE-C, but another":   {store.Options{Encryption: store.Encryption{Kind: store.SSEC}}, map[string]string{"X-Amz-Server-Side-Encryption": "AES256"}, "the object is not encrypted"},
		"metadata":             {store.Options{Metadata: []store.Attribute{{Key: "a.B", Random: 3}}}, map[string]string{"X-Amz-Meta-A.b": "xyz"}, ""},
		"no metadata":          {store.Options{Metadata: []store.Attribute{{Key: "a", Random: 3}}}, nil, "the object has no metadata a"},
		"metadata of no value": {store.Options{Metadata: []store.Attribute{{Key: "a"}}}, nil, ""},
		"a checksum":           {store.Options{Checksum: store.ChecksumSHA1, MD5: true}, nil, ""},
	}
	for name, test := range tests {
		shown := http.Header{}
		for k, v := range test.shown {
			shown.Set(k, v)
		}
		got := ""
		if err := missing(&test.options, shown); err != nil {
			got = err.Error()
		}
		if got != test.lacks {
			t.Errorf("%s: %q, want %q", name, got, test.lacks)
		}
	}
}
