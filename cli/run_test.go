package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"warp/pkg/runfile"
)

// TestKeysAreDocumented holds the table of docs/run.md against what the files take.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`([^`]+)`")
	var documented []runfile.Key
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`--") {
			continue
		}
		group := strings.Trim(cells[1], " `")
		for _, name := range word.FindAllStringSubmatch(cells[2], -1) {
			documented = append(documented, runfile.Key{Group: group, Name: name[1], Flag: strings.Trim(cells[3], " -`")})
		}
	}
	var flags []string
	for _, f := range benchmarkFlags(mapEnvironment(nil)) {
		flags = append(flags, f.Names()[0])
	}
	var keys []runfile.Key
	for _, k := range runfile.Keys(flags) {
		if k.Group == "" && k.Name == k.Flag {
			continue // every flag is a key, as the text says
		}
		keys = append(keys, k)
		if !slices.Contains(documented, k) {
			t.Errorf("%+v is not documented", k)
		}
	}
	for _, k := range documented {
		if !slices.Contains(keys, k) {
			t.Errorf("%+v is documented but not there", k)
		}
	}
}
