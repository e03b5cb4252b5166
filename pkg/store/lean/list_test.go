package lean

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

// FuzzLeanListing holds the reader of listings against encoding/xml: what both
// take means the same, and what lean takes encoding/xml takes too.
func FuzzLeanListing(f *testing.F) {
	f.Add([]byte(objectsSeed))
	f.Add([]byte(versionsSeed))
	f.Add([]byte("<ListBucketResult><Contents><Key>&#x41;<!-- x -->b</Key></Contents><IsTruncated>true</IsTruncated></ListBucketResult>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		c := &conn{memory: &memory{kept: doc}}
		if c.readListing() != nil || c.listing.encoded {
			return
		}
		var keys []string
		c.listing.handOut("bucket", func(o store.Object) bool {
			if !o.IsPrefix {
				keys = append(keys, o.Key)
			}
			return true
		})
		if !bytes.Contains(doc, []byte("<ListBucketResult>")) || bytes.ContainsAny(doc, "!?:") || bytes.Contains(doc, []byte("Version")) || bytes.Contains(doc, []byte("DeleteMarker")) {
			return // what it need not agree on: namespaces, declarations, several names in one
		}
		var theirs minio.ListBucketV2Result
		if err := xml.Unmarshal(doc, &theirs); err != nil {
			return // attributes, which are skipped here and read there
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
