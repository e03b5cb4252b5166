package store

import (
	"encoding/base64"
	"net/http"
	"testing"
)

func TestStoredChecksum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		header http.Header
		want   StoredChecksum
	}{
		{"none", http.Header{}, StoredChecksum{}},
		{"full", http.Header{"X-Amz-Checksum-Crc32": {"y/Q5Jg=="}, "X-Amz-Checksum-Type": {"FULL_OBJECT"}},
			StoredChecksum{Algorithm: "CRC32", Value: "y/Q5Jg=="}},
		{"no type", http.Header{"X-Amz-Checksum-Sha1": {"98O8HYCOBHMq32eZZczDTKeuNEE="}},
			StoredChecksum{Algorithm: "SHA1", Value: "98O8HYCOBHMq32eZZczDTKeuNEE="}},
		{"composite by type", http.Header{"X-Amz-Checksum-Crc32c": {"4waSgw=="}, "X-Amz-Checksum-Type": {"COMPOSITE"}},
			StoredChecksum{Algorithm: "CRC32C", Value: "4waSgw==", Composite: true}},
		{"composite by form", http.Header{"X-Amz-Checksum-Crc32c": {"4waSgw==-3"}},
			StoredChecksum{Algorithm: "CRC32C", Value: "4waSgw==-3", Composite: true}},
	} {
		if got := storedChecksum(c.header); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The check values are those of the algorithms' definitions: checksums of the
// nine digits.
func TestStoredChecksumNew(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]string{
		"CRC32": "y/Q5Jg==", "CRC32C": "4waSgw==", "CRC64NVME": "rosUhgp5mIg=", "SHA1": "98O8HYCOBHMq32eZZczDTKeuNEE=",
		"SHA256": "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=",
	} {
		h := StoredChecksum{Algorithm: algorithm}.New()
		h.Write([]byte("123456789"))
		if got := base64.StdEncoding.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: %s, want %s", algorithm, got, want)
		}
	}
	for _, c := range []StoredChecksum{{}, {Algorithm: "CRC32", Composite: true}, {Algorithm: "BLAKE"}} {
		if c.New() != nil {
			t.Errorf("%+v can be computed", c)
		}
	}
}
