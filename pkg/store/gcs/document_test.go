package gcs

import (
	"encoding/json"
	"testing"

	"warp/internal/check"
	"warp/pkg/store"
)

// If the scanner accepts a document, encoding/json reads the same object.
func FuzzSummary(f *testing.F) {
	for _, doc := range []string{
		`{"generation":"1763889600000000","size":"1024","md5Hash":"ASNFZ4mrze8BI0VniavN7w==","crc32c":"AAAAAA==","updated":"2026-11-21T09:25:33.123Z"}`,
		"{\n  \"size\": \"1\",\r\n\t\"size\" : \"2\"\n}\n", `{}`, `{"size":"1"`, `{"size":"1",}`, `{"size":"1"}{`, `{"size":1}`, `{"size":"\u0031"}`,
		`{"Size":"1"}`, `{"size":"1","metadata":{"size":"2"}}`, `{"size":"1","updated":"yesterday"}`, `{"size":"1","updated":""}`, `{"size":"-1"}`, "{\"size\":\"\xff\"}", `["size"]`, ``,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var s summary
		if !s.scan(doc) {
			return
		}
		ref := store.Ref{Bucket: "bucket", Key: "key"}
		got, wrong := s.object(ref, true, "", 200)
		want, err := store.Object{}, error(nil)
		all := resource{Name: ref.Key}
		if err = json.Unmarshal(doc, &all); err == nil {
			want, err = all.object(ref.Bucket, true, 200)
		}
		if (wrong != nil) != (err != nil) {
			t.Fatalf("%q: %v, and encoding/json %v", doc, wrong, err)
		}
		if err == nil && got != want {
			t.Errorf("%q: %+v, and encoding/json %+v", doc, got, want)
		}
	})
}

// The scanner accepts an answer with all fields of a summary.
func TestSummaryIsScanned(t *testing.T) {
	t.Parallel()
	var s summary
	if doc := `{ "updated": "2026-11-21T09:25:33Z", "size": "5", "generation": "7", "crc32c": "n03x6A==", "md5Hash": "XUFAKrxLKna5cZ2REBfFkg==" }`; !s.scan([]byte(doc)) {
		t.Fatalf("%s is left to encoding/json", doc)
	}
	o, err := s.object(store.Ref{Bucket: "b", Key: "k"}, true, "", 200)
	check.OK(t, err)
	if o.ETag != "5d41402abc4b2a76b9719d911017c592" || o.Size != 5 || o.VersionID != "7" || o.LastModified.Unix() != 1795253133 {
		t.Errorf("%+v", o)
	}
}
