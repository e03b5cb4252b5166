package engines

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"warp/pkg/store"
	"warp/pkg/store/s3provider"
)

// bothEngines returns a host of each engine for a store with one handler.
func bothEngines(t *testing.T, handler http.HandlerFunc) map[string]*store.Host {
	t.Helper()
	c, _ := clientOf(t, handler)
	addr := strings.TrimPrefix(c.Acquire().Endpoint, "http://")
	hosts := map[string]*store.Host{}
	for _, name := range []string{s3provider.Minio, s3provider.Lean} {
		hosts[name] = oneHost(t, store.Config{Engine: name, Credentials: store.Keys{AccessKey: "key", SecretKey: "secret"}}, addr)
	}
	return hosts
}

const twoObjects = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a page -->
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix></Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys>
<Contents><Key>a%20b/%C3%BC+%26&amp;x</Key><LastModified>2026-11-21T09:25:33.123456Z</LastModified><ETag>&#34;abc-1&#34;</ETag><Size>42</Size>
<Owner><ID>1</ID><DisplayName><![CDATA[a<b]]></DisplayName></Owner><StorageClass attr="a>b">STANDARD</StorageClass>
<UserMetadata><content-type>text/plain</content-type><X-Amz-Meta-A>b</X-Amz-Meta-A></UserMetadata></Contents>
<CommonPrefixes><Prefix>p%2Fq/</Prefix></CommonPrefixes>
<Contents><Key>c</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified><ETag>"def"</ETag><Size>0</Size><UserMetadata/></Contents>
<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType></ListBucketResult>`

const threeVersions = `<ListVersionsResult><Name>bucket</Name><IsTruncated>false</IsTruncated>
<Version><Key>k</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest><LastModified>2026-11-21T09:25:33Z</LastModified><ETag>"a"</ETag><Size>7</Size></Version>
<DeleteMarker><Key>k</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest><LastModified>2026-11-21T09:25:32.5+01:00</LastModified></DeleteMarker>
<Version><Key>l%2f</Key><VersionId>null</VersionId><LastModified>2026-11-21T09:25:33Z</LastModified><ETag>"b"</ETag><Size>8</Size></Version>
</ListVersionsResult>`

// Both engines read the same from a listing and find the same errors. If code is not empty, both
// fail, and lean with that code.
func TestEnginesReadListings(t *testing.T) {
	t.Parallel()
	page := func(inner string) string { return "<ListBucketResult>" + inner + "</ListBucketResult>" }
	object := func(inner string) string { return page("<Contents><Key>k</Key>" + inner + "</Contents>") }
	tests := map[string]struct {
		doc      string
		versions bool
		code     string
	}{
		"two objects":          {twoObjects, false, ""},
		"versions":             {threeVersions, true, ""},
		"nothing":              {page(""), false, ""},
		"an empty element":     {"<ListBucketResult/>", false, ""},
		"not encoded":          {page("<Contents><Key>a%20b+c&lt;&#x65E5;&#50;</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified></Contents>"), false, ""},
		"several lines":        {"<a:ListBucketResult\n xmlns:a='x'>\r\n<a:Contents >\r\n<a:Key>a\r\nb\rc</a:Key\n><LastModified>2026-11-21T09:25:33Z</LastModified><Size> 5 </Size></a:Contents></a:ListBucketResult>\n\n", false, ""},
		"no document":          {"", false, store.CodeBadAnswer},
		"no XML":               {"hello", false, store.CodeBadAnswer},
		"half of it":           {twoObjects[:len(twoObjects)/2], false, store.CodeBadAnswer},
		"a wrong end":          {"<ListBucketResult><Contents></ListBucketResult></Contents>", false, store.CodeBadAnswer},
		"a tag of nothing":     {page("<>"), false, store.CodeBadAnswer},
		"an unknown entity":    {object("<ETag>&nbsp;</ETag>"), false, store.CodeBadAnswer},
		"a bare ampersand":     {object("<ETag>a & b</ETag>"), false, store.CodeBadAnswer},
		"a control character":  {object("<ETag>\x01</ETag>"), false, store.CodeBadAnswer},
		"no UTF-8":             {object("<ETag>\xff</ETag>"), false, store.CodeBadAnswer},
		"a size of words":      {object("<Size>many</Size>"), false, store.CodeBadAnswer},
		"a size below nothing": {object("<Size>1e3</Size>"), false, store.CodeBadAnswer},
		"a time of words":      {object("<LastModified>yesterday</LastModified>"), false, store.CodeBadAnswer},
		"truncated, maybe":     {page("<IsTruncated>maybe</IsTruncated>"), false, store.CodeBadAnswer},
		"a wrong encoding":     {page("<EncodingType>url</EncodingType><Contents><Key>a%2</Key></Contents>"), false, store.CodeBadAnswer},
		"truncated, no token":  {page("<IsTruncated>true</IsTruncated>"), false, store.CodeBadAnswer},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := bothEngines(t, answer(200, nil, test.doc))
			said := map[string]string{}
			for engine, h := range hosts {
				var all []string
				err := h.List(context.Background(), store.List{Bucket: "bucket", Versions: test.versions, Flat: true}, func(o store.Object) bool {
					o.LastModified = o.LastModified.UTC()
					all = append(all, fmt.Sprintf("%+v", o))
					return true
				}, store.NewTrace(time.Now()))
				if (err != nil) != (test.code != "") || engine == s3provider.Lean && store.CodeOf(err) != test.code {
					t.Errorf("%s: %v, want code %q", engine, err, test.code)
				}
				said[engine] = strings.Join(all, "\n")
			}
			if said[s3provider.Lean] != said[s3provider.Minio] {
				t.Errorf("lean lists\n%s\nminio-go\n%s", said[s3provider.Lean], said[s3provider.Minio])
			}
		})
	}
}

// Both engines return an error for listings that never end, whether or not the pages have entries.
func TestEnginesEndListings(t *testing.T) {
	t.Parallel()
	pages := map[string]func(n int) (doc, text string){
		"the same token": func(int) (doc, text string) {
			return "<ListBucketResult><IsTruncated>true</IsTruncated>%s<NextContinuationToken>a</NextContinuationToken></ListBucketResult>", "where it has already been"
		},
		"a circle of tokens": func(n int) (doc, text string) {
			return fmt.Sprintf("<ListBucketResult><IsTruncated>true</IsTruncated>%%s<NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", n%5), "where it has already been"
		},
		"the same version": func(int) (doc, text string) {
			return "<ListVersionsResult><IsTruncated>true</IsTruncated>%s<NextKeyMarker>a</NextKeyMarker><NextVersionIdMarker>b</NextVersionIdMarker></ListVersionsResult>", "where it has already been"
		},
		"versions, nowhere to go on": func(int) (doc, text string) {
			return "<ListVersionsResult><IsTruncated>true</IsTruncated>%s</ListVersionsResult>", "but not where"
		},
	}
	for name, page := range pages {
		for _, engine := range []string{s3provider.Lean, s3provider.Minio} {
			for _, entry := range []string{"", "<Contents><Key>a</Key></Contents>"} {
				t.Run(fmt.Sprint(name, " ", engine, " ", entry), func(t *testing.T) {
					t.Parallel()
					n := 0
					doc, text := page(0)
					versions := strings.Contains(doc, "Versions")
					if versions {
						entry = strings.ReplaceAll(entry, "Contents", "Version")
					}
					h := bothEngines(t, func(w http.ResponseWriter, r *http.Request) {
						n++
						doc, _ := page(n)
						answer(200, nil, fmt.Sprintf(doc, entry))(w, r)
					})[engine]
					err := h.List(context.Background(), store.List{Bucket: "bucket", Versions: versions}, func(store.Object) bool { return true }, store.NewTrace(time.Now()))
					if store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), text) {
						t.Errorf("%v after %d pages", err, n)
					}
					if n > 20 {
						t.Errorf("%d pages were asked for", n)
					}
				})
			}
		}
	}
}

// minio-go mistakes these listings for empty ones.
func TestLeanRefusesListings(t *testing.T) {
	t.Parallel()
	more := func(next string) string {
		return "<ListVersionsResult><IsTruncated>true</IsTruncated>" + next + "</ListVersionsResult>"
	}
	pages := 0
	tests := map[string]struct {
		doc  func() string
		code string
		text string
	}{
		"a web page":          {func() string { return "<html><body>Welcome</body></html>" }, store.CodeBadAnswer, "<html> instead of a listing"},
		"an error":            {func() string { return "<Error><Code>InternalError</Code><Message>oh</Message></Error>" }, "InternalError", "oh"},
		"nowhere to go on":    {func() string { return more("") }, store.CodeBadAnswer, "but not where"},
		"the same place":      {func() string { return more("<NextKeyMarker>a</NextKeyMarker>") }, store.CodeBadAnswer, "where it has already been"},
		"a circle":            {func() string { pages++; return more(fmt.Sprintf("<NextKeyMarker>%d</NextKeyMarker>", pages%7)) }, store.CodeBadAnswer, "where it has already been"},
		"an object, no name":  {func() string { return "<ListVersionsResult><Version><Size>1</Size></Version></ListVersionsResult>" }, store.CodeBadAnswer, "no name"},
		"deeper and deeper":   {func() string { return strings.Repeat("<ListVersionsResult>", 100) }, store.CodeBadAnswer, "too many elements"},
		"nothing but a start": {func() string { return "<ListVersionsResult>" }, store.CodeBadAnswer, "an end in the middle"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := bothEngines(t, func(w http.ResponseWriter, r *http.Request) { answer(200, nil, test.doc())(w, r) })[s3provider.Lean]
			err := h.List(context.Background(), store.List{Bucket: "bucket", Versions: true}, func(store.Object) bool { return true }, store.NewTrace(time.Now()))
			if store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, want %s with %q", err, test.code, test.text)
			}
		})
	}
}

// A listing ends if its pages never have an entry.
func TestEnginesEndEmptyPages(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{s3provider.Lean, s3provider.Minio} {
		n := 0
		h := bothEngines(t, func(w http.ResponseWriter, r *http.Request) {
			n++
			answer(200, nil, fmt.Sprintf("<ListBucketResult><IsTruncated>1</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", n))(w, r)
		})[engine]
		err := h.List(context.Background(), store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, store.NewTrace(time.Now()))
		if store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// A document that never ends must not fill the memory.
func TestLeanBoundsDocuments(t *testing.T) {
	t.Parallel()
	h := bothEngines(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "<ListBucketResult>")
		junk := bytes.Repeat([]byte("<a/>"), 64<<10)
		for range 2 * 64 << 20 / len(junk) {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	})[s3provider.Lean]
	err := h.List(context.Background(), store.List{Bucket: "bucket"}, func(store.Object) bool { return true }, store.NewTrace(time.Now()))
	if store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

// A page with very many small entries needs many times its length in memory. It is refused before that is allocated. Pages
// with few large entries pass, one after the other.
func TestListingsBoundMemory(t *testing.T) {
	t.Parallel()
	keys := store.Keys{AccessKey: "key", SecretKey: "secret"}
	bearer := store.Bearer{Token: "token"}
	name := strings.Repeat("n", 1000)
	xml := [...]string{"<ListBucketResult>", "<Contents/>", "<Contents><Key>" + name + "</Key><LastModified>2026-11-21T09:25:33Z</LastModified></Contents>", "</ListBucketResult>"}
	tests := map[string]struct {
		cfg  store.Config
		page [4]string // its begin, a small entry, a large one, its end
	}{
		"lean":  {store.Config{Engine: s3provider.Lean, Credentials: keys}, xml},
		"minio": {store.Config{Engine: s3provider.Minio, Credentials: keys}, xml},
		"gcs":   {store.Config{Engine: "gcs", Provider: "gcs", Bearer: bearer}, [...]string{`{"items":[{"name":"a","size":"0"}`, ",{}", `,{"name":"` + name + `","size":"0"}`, "]}"}},
		"azure": {store.Config{Engine: "azure", Provider: "azure", Bearer: bearer}, [...]string{"<EnumerationResults>", "<Blob><Name>a</Name></Blob>", "<Blob><Name>" + name + "</Name></Blob>", "</EnumerationResults>"}},
		"ais":   {store.Config{Engine: "ais", Provider: "ais"}, [...]string{`{"entries":[{"name":"a","size":"0"}`, ",{}", `,{"name":"` + name + `","size":"0"}`, "]}"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var size, kind int
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				entry := test.page[kind]
				_, _ = io.WriteString(w, test.page[0]+strings.Repeat(entry, size/len(entry))+test.page[3])
			}))
			defer srv.Close()
			h := oneHost(t, test.cfg, srv.Listener.Addr().String())
			list := func(each func(store.Object) bool) error {
				return h.List(t.Context(), store.List{Bucket: "bucket"}, each, store.NewTrace(time.Now()))
			}
			all := func(store.Object) bool { return true }
			size, kind = store.MaxDocument-1000, 1
			err := error(nil)
			first := list(func(store.Object) bool {
				err = list(all) // while the memory of the first one is in use
				return false
			})
			if err = cmp.Or(first, err); store.CodeOf(err) != store.CodeBadAnswer || !strings.Contains(err.Error(), "need more than 128 MiB of memory together") {
				t.Errorf("%.200v", err)
			}
			size, kind = 12<<20, 2
			for range 5 {
				if err := list(all); err != nil {
					t.Fatalf("%.200v", err)
				}
			}
		})
	}
}

// List returns each entry of all pages once, and stops when the caller does.
func TestEnginesListAllPages(t *testing.T) {
	t.Parallel()
	hosts := bothEngines(t, func(w http.ResponseWriter, r *http.Request) {
		var from int
		fmt.Sscan(r.URL.Query().Get("continuation-token"), &from)
		doc := "<ListBucketResult>"
		for i := from; i < from+3; i++ {
			doc += fmt.Sprintf("<Contents><Key>%d</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified></Contents>", i)
		}
		if from < 9 {
			doc += fmt.Sprintf("<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>", from+3)
		}
		answer(200, nil, doc+"</ListBucketResult>")(w, r)
	})
	for engine, h := range hosts {
		for _, limit := range []int{100, 5} {
			var keys []string
			tr := store.NewTrace(time.Now())
			err := h.List(context.Background(), store.List{Bucket: "bucket"}, func(o store.Object) bool {
				keys = append(keys, o.Key)
				return len(keys) < limit
			}, tr)
			want, requests := "0 1 2 3 4 5 6 7 8 9 10 11", uint16(4)
			if limit == 5 {
				want, requests = "0 1 2 3 4", 2
			}
			if got := strings.Join(keys, " "); err != nil || got != want || tr.Requests() != requests || tr.FirstByte() == 0 || tr.Status() != 200 {
				t.Errorf("%s: %v, %s, %+v", engine, err, got, tr)
			}
		}
	}
}

// Both engines read the same results from a batch.
func TestEnginesCountDeletions(t *testing.T) {
	t.Parallel()
	yes := func(key string) string { return "<Deleted><Key>" + key + "</Key></Deleted>" }
	no := func(key string) string {
		return "<Error><Key>" + key + "</Key><Code>AccessDenied</Code><Message>it\n is locked</Message></Error>"
	}
	tests := map[string]struct{ doc, want string }{
		"all":            {yes("a") + yes("b&amp;b") + yes("c"), ""},
		"all, backwards": {yes("c") + yes("b&amp;b") + yes("a"), ""},
		"one refused":    {yes("a") + no("b&amp;b") + yes("c"), "AccessDenied: 1 of 3 objects not deleted; first: it is locked"},
		"all refused":    {no("a") + no("b&amp;b") + no("c"), "AccessDenied: it is locked"},
		"silence":        {"", "BadAnswer: the store confirmed 0 of 3 deletions"},
		"one left out":   {yes("a") + yes("c"), "BadAnswer: the store confirmed 2 of 3 deletions"},
		"another one":    {yes("a") + yes("x") + yes("c"), `BadAnswer: the store confirms a deletion that it was not asked for: "x"`},
		"one twice":      {yes("a") + yes("a") + yes("c"), `BadAnswer: the store confirms a deletion that it was not asked for: "a"`},
	}
	refs := []store.Ref{{Bucket: "bucket", Key: "a"}, {Bucket: "bucket", Key: "b&b"}, {Bucket: "bucket", Key: "c"}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for engine, h := range bothEngines(t, answer(200, nil, `<?xml version="1.0"?><DeleteResult>`+test.doc+`</DeleteResult>`)) {
				err := h.Delete(context.Background(), refs, store.NewTrace(time.Now()))
				if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
					t.Errorf("%s: %s, want %s", engine, got, test.want)
				}
			}
		})
	}
	for name, doc := range map[string]string{"no document": "", "half": "<DeleteResult><Deleted>", "an error": "<Error><Code>SlowDown</Code></Error>"} {
		for engine, h := range bothEngines(t, answer(200, nil, doc)) {
			err := h.Delete(context.Background(), refs, store.NewTrace(time.Now()))
			if err == nil || engine == s3provider.Lean && name == "an error" && store.CodeOf(err) != "SlowDown" {
				t.Errorf("%s, %s: %v", name, engine, err)
			}
		}
	}
}
