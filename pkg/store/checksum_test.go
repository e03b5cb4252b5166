package store

import (
	"encoding/base64"
	"testing"
)

// The check values come from the definitions of the algorithms: they are the checksums of
// "123456789".
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
