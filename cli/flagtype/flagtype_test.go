package flagtype

import (
	"math"
	"testing"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4KB": 4000, "4K": 4000, "4KiB": 4096, "4kib": 4096, "10MiB": 10 << 20, "1MB": 1e6, "1M": 1e6,
		"1.5GiB": 3 << 29, "2TB": 2e12, "2T": 2e12, "1TiB": 1 << 40, "12B": 12, "7 KiB": 7168, "1G": 1e9,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "4X", "1e3", "0x10", "NaN", "Inf", "1..2", "9223372036854775808", "8388608TiB", "4 5", "+4KiB."} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"4KiB", "10MB", "1.5G", "0", "-3", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("parseSize(%q) = %d", s, n)
		}
		if again, err := ParseSize(FormatSize(n)); err != nil || again != n {
			t.Fatalf("%q is %d, written %q and read as %d, %v", s, n, FormatSize(n), again, err)
		}
	})
}
