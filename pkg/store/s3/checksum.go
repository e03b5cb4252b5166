package s3

import (
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

// checksumTypes are all that a store may keep, those first that stores compute unasked.
func checksumTypes() []minio.ChecksumType {
	return []minio.ChecksumType{
		minio.ChecksumCRC64NVME, minio.ChecksumCRC32C, minio.ChecksumCRC32, minio.ChecksumSHA256, minio.ChecksumSHA1,
		minio.ChecksumSHA512, minio.ChecksumMD5, minio.ChecksumXXHash64, minio.ChecksumXXHash3, minio.ChecksumXXHash128,
	}
}

// StoredChecksum is what an answer's headers say. Composites are told by their
// type or, by stores that do not send one, by the number of parts behind them.
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
