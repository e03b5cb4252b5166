package generator

import (
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4096B": 4096, "12b": 12, " 7 ": 7,
		"4K": 4000, "4KB": 4000, "4kb": 4000, "1M": 1e6, "1MB": 1e6, "2g": 2e9, "2GB": 2e9, "1T": 1e12, "3tb": 3e12,
		"10KiB": 10240, "10kib": 10240, "10MiB": 10 << 20, "1GiB": 1 << 30, "1TiB": 1 << 40, "10 MiB": 10 << 20,
		"1.5MiB": 3 << 19, "0.5K": 500, ".5K": 500, "1.K": 1000, "0.3KiB": 307, "1.0000KB": 1000,
		"9223372036854775807": 1<<63 - 1, "8388607TiB": 8388607 << 40,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestParseSizeErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "not a number",
		"MiB":                 "not a number",
		"-1":                  "negative",
		"-1KiB":               "negative",
		"+1":                  "not a number",
		"1.5":                 "whole number of bytes",
		"1.5B":                "whole number of bytes",
		".K":                  "not a number",
		"1..5K":               "not a number",
		"1e6":                 "not a number",
		"1_000":               "not a number",
		"1/2K":                "not a number",
		"0x10":                "not a number",
		"10XB":                "unknown unit \"XB\"",
		"10 MiB each":         "unknown unit",
		"９":                   "unknown unit",
		"9223372036854775808": "larger than",
		"8388608TiB":          "larger than",
		"99999999999999999TB": "larger than",
	} {
		_, err := ParseSize(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text) {
			t.Errorf("ParseSize(%q): error %v does not name the text and %q", text, err, want)
		}
	}
	if _, err := ParseSize(strings.Repeat("9", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Errorf("ParseSize of a huge text: want a short error, got %.300v", err)
	}
}

func TestFormatSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0B", 1: "1B", 1000: "1KB", 1024: "1KiB", 1500: "1500B", 4096: "4KiB", 10 << 20: "10MiB", 3 << 19: "1536KiB",
		2e9: "1953125KiB", 1e6: "1MB", 1 << 50: "1024TiB",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"", "0", "10MiB", "4KB", "1.5GB", "8388608TiB", "-1", "1e9", "0.0000001TiB", "10kib", " 5 k"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseSize(%q) = %d", text, n)
		}
		if again, err := ParseSize(FormatSize(n)); err != nil || again != n {
			t.Fatalf("%d was written as %q and read as %d, %v", n, FormatSize(n), again, err)
		}
	})
}
