package marks

import (
	"strings"
	"testing"
)

func TestParsePlannedMark(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"at":"2m","text":"disk pulled"}`:                      "",
		`{"at":"0s","text":"x","exec":"true"}`:                  "",
		`{"at":"2m"}`:                                           "needs a text",
		`{"text":"x"}`:                                          "has no time",
		`{"at":"soon","text":"x"}`:                              `at is "soon"`,
		`{"at":"-2m","text":"x"}`:                               `at is "-2m"`,
		`{"at":"2m","text":"x","command":"y"}`:                  "is not a mark",
		`{"at":"2m","text":"x"} {}`:                             "there is more after it",
		`[{"at":"2m","text":"x"}]`:                              "it must be an object whose values are strings",
		`{"at":2,"text":"x"}`:                                   "it must be an object whose values are strings",
		`2m disk pulled`:                                        "is not a mark",
		`{"at":"1s","text":"` + strings.Repeat("x", 201) + `"}`: "at most 200 characters",
		`{"at":"1s","text":"x","exec":"` + strings.Repeat("x", 5000) + `"}`: "at most 4096",
	} {
		_, err := parsePlannedMark(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}
