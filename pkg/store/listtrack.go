package store

// A ListPlace is where a page begins.
type ListPlace struct{ Token, Key, Version string }

// maxEmptyPages limits the number of consecutive pages without an entry. A store may filter its
// listing, but not for ever.
const maxEmptyPages = 1000

// A ListTrack follows a listing from page to page and detects one that never ends.
type ListTrack struct {
	Place, seen  ListPlace
	pages, Empty int // pages so far, and since the last entry
}

// Advance moves on to the next page. status is the status of the answer that contained the previous
// one.
func (t *ListTrack) Advance(next ListPlace, status int) error {
	t.pages++
	switch {
	case next == ListPlace{}:
		return BadAnswer(status, "the listing says that it continues, but not where")
	case next == t.Place, next == t.seen:
		return BadAnswer(status, "the listing continues where it has already been: %.60q", next.Token+next.Key)
	case t.Empty > maxEmptyPages:
		return BadAnswer(status, "the listing does not end: %d pages without an entry", t.Empty)
	}
	if t.Place = next; t.pages&(t.pages-1) == 0 {
		t.seen = next // detects cycles of any length
	}
	return nil
}
