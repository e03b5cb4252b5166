package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// ParseBuckets reads the value of --bucket: names separated by commas, with ranges as in ParseHosts. A name that
// occurs twice is refused: one that was mistyped is likelier than one that is meant to be used twice as often.
func ParseBuckets(spec string) ([]string, error) {
	var buckets []string
	seen := make(map[string]bool)
	for item := range ListItems(spec) {
		names, err := expandRanges("bucket", item)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			switch err := s3utils.CheckValidBucketName(name); {
			case name == "":
				return nil, errors.New("a bucket is empty: want names separated by commas")
			case err != nil:
				return nil, fmt.Errorf("%q is not a bucket name: %w", name, err)
			case seen[name]:
				return nil, fmt.Errorf("bucket %s is named twice", name)
			}
			seen[name] = true
		}
		if buckets = slices.Concat(buckets, names); len(buckets) > maxBuckets {
			return nil, fmt.Errorf("more than %d buckets", maxBuckets)
		}
	}
	return buckets, nil
}

// maxBuckets is as many as S3 gives an account without being asked, ten times over.
const maxBuckets = 1000
