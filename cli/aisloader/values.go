package aisloader

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes as aisloader does: K, M, G and T are powers of 1024, with a B behind them or without.
func ParseSize(s string) (int64, error) {
	unit := strings.TrimLeft(s, "0123456789.")
	number := strings.TrimSuffix(s, unit)
	power := map[string]int{"": 0, "B": 0, "K": 1, "M": 2, "G": 3, "T": 4}
	letter := strings.ToUpper(strings.TrimSpace(unit))
	if len(letter) > 1 {
		letter = strings.TrimSuffix(strings.TrimSuffix(letter, "B"), "I")
	}
	n, known := power[letter]
	v, err := strconv.ParseFloat(number, 64)
	if v *= math.Pow(1024, float64(n)); err != nil || !known || v >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size; write it like 4096, 512K, 10MiB or 1G", s)
	}
	return int64(v), nil
}

// A Bucket is a bucket as aisloader names it.
type Bucket struct {
	Provider string // of AIStore: ais, or what the bucket is behind
	Name     string
}

// ParseBucket parses the name of a bucket, with or without its provider in front. provider is the default.
func ParseBucket(name, provider string) (b Bucket, err error) {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok {
		scheme, rest = provider, name
	}
	b = Bucket{Provider: scheme, Name: strings.TrimSuffix(rest, "/")}
	switch scheme {
	case "s3":
		b.Provider = "aws"
	case "gs":
		b.Provider = "gcp"
	case "az":
		b.Provider = "azure"
	case "ais", "aws", "gcp", "azure", "oci", "ht":
	default:
		return b, fmt.Errorf("%q is not a provider of AIStore: write ais, aws, gcp, azure, oci or ht", scheme)
	}
	return b, nil
}
