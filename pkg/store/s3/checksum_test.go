package s3

import (
	"net/http"
	"testing"

	"warp/pkg/store"
)

func TestStoredChecksum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		header http.Header
		want   store.StoredChecksum
	}{
		{"none", http.Header{}, store.StoredChecksum{}},
		{"full", http.Header{"X-Amz-Checksum-Crc32": {"y/Q5Jg=="}, "X-Amz-Checksum-Type": {"FULL_OBJECT"}},
			store.StoredChecksum{Algorithm: "CRC32", Value: "y/Q5Jg=="}},
		{"no type", http.Header{"X-Amz-Checksum-Sha1": {"98O8HYCOBHMq32eZZczDTKeuNEE="}},
			store.StoredChecksum{Algorithm: "SHA1", Value: "98O8HYCOBHMq32eZZczDTKeuNEE="}},
		{"composite by type", http.Header{"X-Amz-Checksum-Crc32c": {"4waSgw=="}, "X-Amz-Checksum-Type": {"COMPOSITE"}},
			store.StoredChecksum{Algorithm: "CRC32C", Value: "4waSgw==", Composite: true}},
		{"composite by form", http.Header{"X-Amz-Checksum-Crc32c": {"4waSgw==-3"}},
			store.StoredChecksum{Algorithm: "CRC32C", Value: "4waSgw==-3", Composite: true}},
	} {
		if got := StoredChecksum(c.header); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
