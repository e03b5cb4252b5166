package s3

import (
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

// checksumTypes are all types that a store may keep, with those first that stores compute by
// default.
func checksumTypes() []minio.ChecksumType {
	return []minio.ChecksumType{
		minio.ChecksumCRC64NVME, minio.ChecksumCRC32C, minio.ChecksumCRC32, minio.ChecksumSHA256, minio.ChecksumSHA1,
		minio.ChecksumSHA512, minio.ChecksumMD5, minio.ChecksumXXHash64, minio.ChecksumXXHash3, minio.ChecksumXXHash128,
	}
}

// StoredChecksum returns the checksum in an answer's headers. A composite is recognized by its type
// or, for stores that do not send one, by the number of parts at its end.
func StoredChecksum(h http.Header) store.StoredChecksum {
	for _, t := range checksumTypes() {
		if v := h.Get(t.Key()); v != "" {
			kind := h.Get("X-Amz-Checksum-Type")
			return store.StoredChecksum{
				Algorithm: t.String(), Value: v,
				Composite: strings.EqualFold(kind, "COMPOSITE") || strings.Contains(v, "-"), // base64 has no "-"
			}
		}
	}
	return store.StoredChecksum{}
}
