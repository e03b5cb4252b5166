// Package s3 contains lean, the engine for the requests that make up a benchmark of S3. They cost
// little more than their system calls. It also contains what package minio needs too: limits and
// errors, the results of deletions, the regions of buckets, and sessions.
package s3

import (
	"github.com/minio/minio-go/v7"

	"warp/pkg/store"
)

// Headers of S3.
const (
	MetadataPrefix          = "x-amz-meta-" // prefix of headers with user metadata
	ChecksumAlgorithmHeader = "x-amz-checksum-algorithm"
	ChecksumTypeHeader      = "x-amz-checksum-type"
	FullObject              = "FULL_OBJECT" // value of ChecksumTypeHeader for a checksum of the whole object
)

// SignedWhole is the size up to which a payload is signed as a whole. minio-go would sign it in
// chunks and allocate buffers of 64 KiB per request for that.
const SignedWhole = 64 << 10

// SignV2 is the signature of [store.Keys] that sign with version 2.
const SignV2 = "S3V2"

// EmptyPayload is the SHA-256 of nothing, in hex.
const EmptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// MaxErrorDocument limits how much of an error document is read. They are short.
const MaxErrorDocument = 64 << 10

// ChecksumType returns minio-go's name of a checksum.
func ChecksumType(c store.Checksum) minio.ChecksumType {
	switch c {
	case store.ChecksumCRC32:
		return minio.ChecksumCRC32
	case store.ChecksumCRC32FO:
		return minio.ChecksumFullObjectCRC32
	case store.ChecksumCRC32C:
		return minio.ChecksumCRC32C
	case store.ChecksumCRC32CFO:
		return minio.ChecksumFullObjectCRC32C
	case store.ChecksumCRC64NVME:
		return minio.ChecksumCRC64NVME
	case store.ChecksumSHA1:
		return minio.ChecksumSHA1
	case store.ChecksumSHA256:
		return minio.ChecksumSHA256
	case store.ChecksumSHA512:
		return minio.ChecksumSHA512
	case store.ChecksumMD5:
		return minio.ChecksumMD5
	case store.ChecksumXXH64:
		return minio.ChecksumXXHash64
	case store.ChecksumXXH3:
		return minio.ChecksumXXHash3
	case store.ChecksumXXH128:
		return minio.ChecksumXXHash128
	}
	return minio.ChecksumNone
}
