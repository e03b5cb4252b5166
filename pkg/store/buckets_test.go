package store

import (
	"strings"
	"testing"
)

func TestParseBuckets(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"one":              "one",
		"bbb, aaa,ccc":     "bbb aaa ccc",
		"xx{1...3}":        "xx1 xx2 xx3",
		"x{09...10}-y,abc": "x09-y x10-y abc",
		"":                 "! a bucket is empty",
		"aaa,,bbb":         "! a bucket is empty",
		"aaa,bbb,aaa":      "! bucket aaa is named twice",
		"xx{1...3},xx2":    "! bucket xx2 is named twice",
		"x{1...":           "! bucket \"x{1...\": a { has no }",
		"x{1,2}":           "! a { has no }",
		"x{a...b}":         "! is not a range of numbers",
		"good,no":          "! \"no\" is not a bucket name: ",
		"a/b":              "! \"a/b\" is not a bucket name: ",
		"xx{1...1001}":     "! more than 1000 buckets",
	} {
		got, err := ParseBuckets(spec)
		if part, wrong := strings.CutPrefix(want, "! "); wrong && (err == nil || !strings.Contains(err.Error(), part)) || !wrong && (err != nil || strings.Join(got, " ") != want) {
			t.Errorf("%q: %q, %v; want %s", spec, got, err, want)
		}
	}
}
