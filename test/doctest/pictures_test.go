package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"warp/internal/check"
)

// The recording of the README shows its report for at least four seconds before it starts again.
func TestRecordingShowsItsReport(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/pictures/run.svg"))
	check.OK(t, err)
	m := regexp.MustCompile(`animation-duration:([0-9.]+)s`).FindSubmatch(text)
	if m == nil {
		t.Fatal("the recording has no duration")
	}
	duration, err := strconv.ParseFloat(string(m[1]), 64)
	check.OK(t, err)
	shown := 0.0 // how long the longest frame of the last five seconds is there
	var last float64
	for _, m := range regexp.MustCompile(`([0-9.]+)%\{transform`).FindAllSubmatch(text, -1) {
		at, err := strconv.ParseFloat(string(m[1]), 64)
		check.OK(t, err)
		at *= duration / 100
		if at > duration-5 {
			shown = max(shown, at-last)
		}
		last = at
	}
	if shown = max(shown, duration-last); shown < 4 {
		t.Errorf("the report is there for %.1f s of %.1f s", shown, duration)
	}
	if !strings.Contains(string(text), "recovered") {
		t.Error("the report has no recovery")
	}
}

// The page of the README has something to see, and its figures are the store's.
func TestPageOfThePicture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/pictures/report.html"))
	check.OK(t, err)
	for _, want := range []string{"disk pulled", "recovered", "The figures are the store&#39;s."} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(text), `class="warning`) {
		t.Error("the page has a warning")
	}
}
