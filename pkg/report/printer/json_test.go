package printer

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"warp/internal/check"
)

// TestIndent compares indent with json.Indent, which puts each number of an array on a separate
// line.
func TestIndent(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{}`, `[]`, `null`, `{"a":{}}`, `{"a":[],"b":[[],{}]}`, `{"a":"x\"]},:[{\\","b":["c","d\n"]}`,
		`{"a":-1.5e+30,"b":true,"c":[{"d":null},{"e":[true,false]}]}`, `[null]`, `["",""]`,
	} {
		var got, want bytes.Buffer
		check.OK(t, indent(&got, []byte(doc+"\n")))
		check.OK(t, json.Indent(&want, []byte(doc), "", "  "))
		if got.String() != want.String()+"\n" {
			t.Errorf("%s becomes\n%s, want\n%s", doc, &got, &want)
		}
	}
	var got strings.Builder
	_ = indent(&got, []byte(`{"a":[1,-2.5,3e+21],"b":[[0,1],[]],"c":[1,"x"]}`))
	if want := "{\n  \"a\": [1,-2.5,3e+21],\n  \"b\": [\n    [0,1],\n    []\n  ],\n  \"c\": [\n    1,\n    \"x\"\n  ]\n}\n"; got.String() != want {
		t.Errorf("got\n%s, want\n%s", &got, want)
	}
}
