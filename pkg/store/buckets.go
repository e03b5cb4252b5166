package store

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ParseBuckets parses the value of --bucket: names separated by commas, with ranges as in
// [ParseHosts]. It rejects a name that occurs twice, because that is more likely a mistake than a
// wish to use it twice as often.
func ParseBuckets(spec string) ([]string, error) {
	var buckets []string
	seen := make(map[string]bool)
	for item := range ListItems(spec) {
		names, err := expandRanges("bucket", item)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			switch err := checkBucket(name); {
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

// checkBucket rejects names that no store accepts for a bucket.
func checkBucket(name string) error {
	alphanumeric := func(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
	switch {
	case len(name) < 3:
		return errors.New("it has fewer than 3 characters")
	case len(name) > 63:
		return errors.New("it has more than 63 characters")
	}
	for i := range len(name) {
		if !alphanumeric(name[i]) && !strings.ContainsRune(".-_:", rune(name[i])) {
			return errors.New("it may contain letters, digits, dots, hyphens and underscores only")
		}
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return errors.New("it is an IP address")
	}
	if !alphanumeric(name[0]) || !alphanumeric(name[len(name)-1]) {
		return errors.New("it must begin and end with a letter or a digit")
	}
	for _, pair := range []string{"..", ".-", "-."} {
		if strings.Contains(name, pair) {
			return fmt.Errorf("it contains %q", pair)
		}
	}
	return nil
}

// maxBuckets is ten times what S3 allows an account by default.
const maxBuckets = 1000
