package workload

import (
	"fmt"
	"testing"
)

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

// A HEAD may be many versions late.
func TestOldVersionsOfHEAD(t *testing.T) {
	t.Parallel()
	var k rawKey
	for i := range 2 * rawKnown {
		k.wrote(version{token: fmt.Sprint("token", i), store: fmt.Sprint(i)})
	}
	last := 2*rawKnown - 1
	for _, i := range []int{last, last - 1, last - 100} {
		if got := tokenOf(fmt.Sprint(i), k.written); got != fmt.Sprint("token", i) {
			t.Errorf("version %d of %d: %q", i, last, got)
		}
	}
	if len(k.written) != rawKnown {
		t.Errorf("%d versions are known", len(k.written))
	}
}
