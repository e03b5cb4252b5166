package aisloader

import "testing"

func TestParseSize(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"0": 0, "300": 300, "16B": 16, "1024": 1024, "1K": 1 << 10, "2k": 2 << 10, "1KB": 1 << 10, "1KiB": 1 << 10, "8M": 8 << 20, "1MB": 1 << 20,
		"10Mib": 10 << 20, "10G": 10 << 30, "1GiB": 1 << 30, "2t": 2 << 40, "1.5K": 1536,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %d %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "K", "-1", "1X", "1KK", "1KiBB", "1e3", "99999999T", "1 0", "BB"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestParseBucket(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Bucket{
		"abc": {"ais", "abc"}, "ais://abc": {"ais", "abc"}, "s3://xyz": {"aws", "xyz"}, "aws://nvaws": {"aws", "nvaws"}, "gs://a/": {"gcp", "a"},
		"azure://c": {"azure", "c"},
	} {
		if got, err := ParseBucket(s, "ais"); err != nil || got != want {
			t.Errorf("%q: %+v %v", s, got, err)
		}
	}
	if _, err := ParseBucket("http://x", "ais"); err == nil {
		t.Error("http is not accepted as a provider")
	}
}
