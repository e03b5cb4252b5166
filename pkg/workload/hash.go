package workload

import "github.com/cespare/xxhash/v2"

// HashObject returns a number for an object, which is never 0. Samples of objects are chosen by it.
func HashObject(bucket, key string) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(bucket)
	_, _ = d.Write([]byte{0})
	_, _ = d.WriteString(key)
	return max(d.Sum64(), 1)
}
