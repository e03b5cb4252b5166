package workload

import "testing"

// A store may name several versions alike, such as by the second of their upload: then nothing says which one HEAD found.
func TestTokenOf(t *testing.T) {
	t.Parallel()
	known := []version{{token: "a", store: "1"}, {token: "b", store: "2"}, {}}
	for name, want := range map[string]string{"1": "a", "2": "b", "3": "", "": ""} {
		if got := tokenOf(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := tokenOf("1", []version{{token: "a", store: "1"}, {token: "b", store: "1"}}); got != "" {
		t.Errorf("two versions of the same name: %q", got)
	}
}
