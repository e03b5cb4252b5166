package store

import (
	"hash"

	"github.com/minio/minio-go/v7"
)

// A StoredChecksum is the checksum that a store keeps of an object's content beside the ETag. The
// zero value means none.
type StoredChecksum struct {
	Algorithm string // CRC32, CRC32C, CRC64NVME, SHA1, SHA256 and so on
	Value     string // in base64
	Composite bool   // it is made of the checksums of parts, and not of the content
}

// New returns a hash that computes the checksum from the content, or nil if the content is not
// enough.
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

// ChecksumTypes returns all types that a store may keep, starting with those that stores compute
// by default.
func ChecksumTypes() []minio.ChecksumType {
	return []minio.ChecksumType{
		minio.ChecksumCRC64NVME, minio.ChecksumCRC32C, minio.ChecksumCRC32, minio.ChecksumSHA256, minio.ChecksumSHA1,
		minio.ChecksumSHA512, minio.ChecksumMD5, minio.ChecksumXXHash64, minio.ChecksumXXHash3, minio.ChecksumXXHash128,
	}
}
