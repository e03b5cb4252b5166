package store

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/crc64nvme"
	"github.com/zeebo/xxh3"
)

// A StoredChecksum is the checksum of an object's content that a store keeps besides the ETag. The
// zero value means none.
type StoredChecksum struct {
	Algorithm string // CRC32, CRC32C, CRC64NVME, SHA1, SHA256 and so on
	Value     string // in base64
	Composite bool   // computed from the checksums of parts, not from the content
}

// New returns a hash that computes the checksum from the content, or nil if the content alone does
// not determine it.
func (c StoredChecksum) New() hash.Hash {
	if c.Composite {
		return nil
	}
	switch c.Algorithm {
	case "CRC32":
		return crc32.NewIEEE()
	case "CRC32C":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "CRC64NVME":
		return crc64nvme.New()
	case "SHA1":
		return sha1.New()
	case "SHA256":
		return sha256.New()
	case "SHA512":
		return sha512.New()
	case "MD5":
		return md5.New()
	case "XXHASH64":
		return xxhash.New()
	case "XXHASH3":
		return xxh3.New()
	case "XXHASH128":
		return xxh3.New128()
	}
	return nil
}
