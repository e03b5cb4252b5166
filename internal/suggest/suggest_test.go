package suggest

import "testing"

func TestClosest(t *testing.T) {
	t.Parallel()
	flags := []string{"host", "host-select", "obj.size", "obj.randsize", "analyze.op", "analyze.out", "duration", "tls", "q", "quiet"}
	for word, want := range map[string]string{
		"obj.sise": "obj.size", "hots": "host", "size": "obj.size", "op": "analyze.op", "dration": "duration",
		"tsl": "tls", "host-sel": "host-select", "Duration": "duration", "zzz": "", "x": "", "qiet": "quiet", "select": "host-select",
	} {
		if got := Closest(word, flags); got != want {
			t.Errorf("Closest(%q) = %q, want %q", word, got, want)
		}
	}
}
