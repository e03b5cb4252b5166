package page

import (
	"strings"
	"testing"

	"warp/pkg/results"
)

// A failed assertion is in the first sentence and in the first section, and the limit in the second sentence.
func TestEventsComeFirst(t *testing.T) {
	t.Parallel()
	r := &results.Report{
		Groups:     []results.GroupReport{{Kind: results.KindMeasured, WindowS: 10}},
		Operations: []results.Operation{{Op: "GET", Inside: 10, Hosts: []results.Part{{Name: "http://x"}}}},
		Assertions: []results.Assertion{{Result: results.Failed, Assertion: "p99<5ms", Sentence: "p99<5ms failed: measured 8 ms"}},
	}
	p := Report(r, Options{})
	if len(p.Lead) != 3 && len(p.Lead) != 2 || p.Lead[0] != "Assertion p99<5ms failed: measured 8 ms." {
		t.Errorf("%q", p.Lead)
	}
	if s := p.Sections[0]; !strings.Contains(s.Title, "ssertion") {
		t.Errorf("the first section is %q", s.Title)
	}
	r.Assertions = nil
	if p := Report(r, Options{}); !strings.HasPrefix(p.Lead[0], "warp sent 10 requests") {
		t.Errorf("%q", p.Lead)
	}
}
