package store

import (
	"hash"

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
	for _, t := range ChecksumTypes() {
		if t.String() == c.Algorithm {
			return t.Hasher()
		}
	}
	return nil
}

// ChecksumTypes are all that a store may keep, those first that stores compute unasked.
func ChecksumTypes() []minio.ChecksumType {
	return []minio.ChecksumType{
		minio.ChecksumCRC64NVME, minio.ChecksumCRC32C, minio.ChecksumCRC32, minio.ChecksumSHA256, minio.ChecksumSHA1,
		minio.ChecksumSHA512, minio.ChecksumMD5, minio.ChecksumXXHash64, minio.ChecksumXXHash3, minio.ChecksumXXHash128,
	}
}
