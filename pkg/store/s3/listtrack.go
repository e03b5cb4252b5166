package s3

import (
	"warp/pkg/store"
)

// A ListPlace is where a page begins.
type ListPlace struct{ Token, Key, Version string }

// maxEmptyPages bounds how many pages without an entry may follow each other.
// A store may filter what it lists, but one that goes on for ever has a fault.
const maxEmptyPages = 1000

// A ListTrack is the way that a listing goes from page to page. It notices one
// that has no end.
type ListTrack struct {
	Place, seen  ListPlace
	pages, Empty int // pages so far, and since the last entry
}

// goOn takes note of where the next page begins, after one whose answer had
// the given status.
func (t *ListTrack) Advance(next ListPlace, status int) error {
	t.pages++
	switch {
	case next == ListPlace{}:
		return store.BadAnswer(status, "the listing says that it goes on, but not where")
	case next == t.Place, next == t.seen:
		return store.BadAnswer(status, "the listing goes on where it has been: %.60q", next.Token+next.Key)
	case t.Empty > maxEmptyPages:
		return store.BadAnswer(status, "the listing goes on and on: %d pages without an entry", t.Empty)
	}
	if t.Place = next; t.pages&(t.pages-1) == 0 {
		t.seen = next // so that it meets a circle of any length
	}
	return nil
}
