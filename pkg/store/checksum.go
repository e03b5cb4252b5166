package store

import (
	"hash"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// A StoredChecksum is what a store keeps of an object's content beside the ETag.
// The zero value says that there is none.
type StoredChecksum struct {
	Algorithm string // CRC32, CRC32C, CRC64NVME, SHA1, SHA256 and so on
	Value     string // in base64
	Composite bool   // it is made of the checksums of parts, and not of the content
}

// New returns what computes such a checksum from the content; nil where the
// content alone does not give it.
func (c StoredChecksum) New() hash.Hash {
	if c.Composite {
		return nil
	}
	for _, t := range checksumTypes {
		if t.String() == c.Algorithm {
			return t.Hasher()
		}
	}
	return nil
}

// checksumTypes has those first that stores compute unasked.
var checksumTypes = [...]minio.ChecksumType{
	minio.ChecksumCRC64NVME, minio.ChecksumCRC32C, minio.ChecksumCRC32, minio.ChecksumSHA256, minio.ChecksumSHA1,
	minio.ChecksumSHA512, minio.ChecksumMD5, minio.ChecksumXXHash64, minio.ChecksumXXHash3, minio.ChecksumXXHash128,
}

// storedChecksum is what an answer's headers say. Composites are told by their
// type or, by stores that do not send one, by the number of parts behind them.
func storedChecksum(h http.Header) StoredChecksum {
	for _, t := range checksumTypes {
		if v := h.Get(t.Key()); v != "" {
			kind := h.Get("X-Amz-Checksum-Type")
			return StoredChecksum{
				Algorithm: t.String(), Value: v,
				Composite: strings.EqualFold(kind, "COMPOSITE") || strings.Contains(v, "-"), // base64 has no "-"
			}
		}
	}
	return StoredChecksum{}
}
