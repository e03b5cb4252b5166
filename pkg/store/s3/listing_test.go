package s3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"warp/internal/check"
	"warp/pkg/store"
	"warp/pkg/store/s3/xmlscan"
)

// FuzzListing compares the parser of listings with encoding/xml. What lean accepts, encoding/xml
// accepts too, and if both accept a document they read the same.
func FuzzListing(f *testing.F) {
	f.Add([]byte(objectsSeed))
	f.Add([]byte(versionsSeed))
	f.Add([]byte("<ListBucketResult><Contents><Key>&#x41;<!-- x -->b</Key></Contents><IsTruncated>true</IsTruncated></ListBucketResult>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var x xmlscan.Scanner
		var p listing
		if p.read(&x, doc, 200, new(store.Document)) != nil || p.encoded {
			return
		}
		var keys []string
		p.handOut("bucket", func(o store.Object) bool {
			if !o.IsPrefix {
				keys = append(keys, o.Key)
			}
			return true
		})
		if !bytes.Contains(doc, []byte("<ListBucketResult>")) || bytes.ContainsAny(doc, "!?:") || bytes.Contains(doc, []byte("Version")) || bytes.Contains(doc, []byte("DeleteMarker")) {
			return // the two may differ about namespaces, declarations, and several names in one entry
		}
		var theirs minio.ListBucketV2Result
		if err := xml.Unmarshal(doc, &theirs); err != nil {
			return // lean skips attributes and encoding/xml reads them
		}
		var want []string
		for _, o := range theirs.Contents {
			want = append(want, o.Key)
		}
		if strings.Join(keys, "\n") != strings.Join(want, "\n") && !strings.Contains(string(doc), "<Key><") && bytes.Count(doc, []byte("<Key>")) <= len(keys) {
			t.Errorf("%q, encoding/xml reads %q", keys, want)
		}
	})
}

const objectsSeed = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a page -->
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix></Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys>
<Contents><Key>a%20b/%C3%BC+%26&amp;x</Key><LastModified>2026-11-21T09:25:33.123456Z</LastModified><ETag>&#34;abc-1&#34;</ETag><Size>42</Size>
<Owner><ID>1</ID><DisplayName><![CDATA[a<b]]></DisplayName></Owner><StorageClass attr="a>b">STANDARD</StorageClass>
<UserMetadata><content-type>text/plain</content-type><X-Amz-Meta-A>b</X-Amz-Meta-A></UserMetadata></Contents>
<CommonPrefixes><Prefix>p%2Fq/</Prefix></CommonPrefixes>
<Contents><Key>c</Key><LastModified>2026-11-21T09:25:33.000Z</LastModified><ETag>"def"</ETag><Size>0</Size><UserMetadata/></Contents>
<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType></ListBucketResult>`

const versionsSeed = `<ListVersionsResult><Name>bucket</Name><IsTruncated>false</IsTruncated>
<Version><Key>k</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest><LastModified>2026-11-21T09:25:33Z</LastModified><ETag>"a"</ETag><Size>7</Size></Version>
<DeleteMarker><Key>k</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest><LastModified>2026-11-21T09:25:32.5+01:00</LastModified></DeleteMarker>
<Version><Key>l%2f</Key><VersionId>null</VersionId><LastModified>2026-11-21T09:25:33Z</LastModified><ETag>"b"</ETag><Size>8</Size></Version>
</ListVersionsResult>`

// Objects come before prefixes, and the page contains the start of the next one.
func TestListing(t *testing.T) {
	t.Parallel()
	var x xmlscan.Scanner
	var p listing
	read := func(doc string) (all []string) {
		t.Helper()
		check.OK(t, p.read(&x, []byte(doc), 200, new(store.Document)))
		p.handOut("bucket", func(o store.Object) bool {
			all = append(all, fmt.Sprintf("%s %s %s %d %s %t %t %t", o.Key, o.VersionID, o.ETag, o.Size,
				o.LastModified.UTC().Format(time.RFC3339Nano), o.DeleteMarker, o.HasMetadata, o.IsPrefix))
			return true
		})
		return all
	}
	for _, c := range []struct {
		doc  string
		want []string
	}{
		{objectsSeed, []string{"a b/ü &&x  abc-1 42 2026-11-21T09:25:33.123Z false true false", "c  def 0 2026-11-21T09:25:33Z false false false",
			"p/q/   0 0001-01-01T00:00:00Z false false true"}},
		{versionsSeed, []string{"k v2 a 7 2026-11-21T09:25:33Z false false false", "k v1  0 2026-11-21T08:25:32.5Z true false false",
			"l%2f null b 8 2026-11-21T09:25:33Z false false false"}},
	} {
		if got := read(c.doc); !slices.Equal(got, c.want) {
			t.Errorf("%q\ninstead of %q", got, c.want)
		}
	}
	read("<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a%2Fb</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker><EncodingType>url</EncodingType></ListVersionsResult>")
	if want := (store.ListPlace{Key: "a/b", Version: "v"}); len(p.entries) != 0 || !p.truncated || p.next != want {
		t.Errorf("%d, %t, %+v", len(p.entries), p.truncated, p.next)
	}
	if err := p.read(&x, []byte("<Error><Code>SlowDown</Code></Error>"), 200, new(store.Document)); err != errNoListing || string(x.Name) != "Error" {
		t.Errorf("%v at <%s>", err, x.Name)
	}
}
