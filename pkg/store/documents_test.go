package store

import (
	"testing"

	"warp/internal/check"
)

// Large documents share a limit; small ones do not count, and freed ones leave room.
func TestDocumentsShareALimit(t *testing.T) {
	t.Parallel()
	var all Documents
	var open []*Document
	for range 1000 {
		small := all.New()
		check.OK(t, small.Grow(freeDocument, 200))
		defer small.Free()
	}
	for len(open) < 100 {
		d := all.New()
		var err error
		for n := 0; n < MaxDocument && err == nil; n += 64 << 10 {
			err = d.Grow(64<<10, 200)
		}
		open = append(open, &d)
		if err != nil {
			break
		}
	}
	if got, want := len(open), maxDocuments/(MaxDocument-freeDocument)+1; got != want {
		t.Errorf("the limit was reached with %d documents, want %d", got, want)
	}
	for _, d := range open {
		d.Free()
		d.Free() // harmless
	}
	if left := all.large.Load(); left != 0 {
		t.Errorf("%d bytes are left", left)
	}
}
