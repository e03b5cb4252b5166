package store

import "net/http"

// A ListPlace is where a page begins.
type ListPlace struct{ Token, Key, Version string }

// maxEmptyPages limits the number of consecutive pages without an entry. A store may filter its
// listing, but not for ever.
const maxEmptyPages = 1000

// A PageEnd is where a page of a listing ended.
type PageEnd struct {
	Found int  // entries on the page
	More  bool // another page is wanted, and begins at Next
	Next  ListPlace
}

// EachPage calls page with the place of each page of a listing. It returns the first
// error of page, or an error if the listing never ends.
func EachPage(page func(at ListPlace) (PageEnd, error)) error {
	var track ListTrack
	for {
		end, err := page(track.Place)
		if err != nil || !end.More {
			return err
		}
		if track.Empty++; end.Found > 0 {
			track.Empty = 0
		}
		if err := track.Advance(end.Next); err != nil {
			return err
		}
	}
}

// A ListTrack follows a listing from page to page and detects one that never ends.
type ListTrack struct {
	Place, seen  ListPlace
	pages, Empty int // pages so far, and since the last entry
}

// Advance moves on to the next page.
func (t *ListTrack) Advance(next ListPlace) error {
	t.pages++
	switch {
	case next == ListPlace{}:
		return BadAnswer(http.StatusOK, "the listing says that it continues, but not where")
	case next == t.Place, next == t.seen:
		return BadAnswer(http.StatusOK, "the listing continues where it has already been: %.60q", next.Token+next.Key)
	case t.Empty > maxEmptyPages:
		return BadAnswer(http.StatusOK, "the listing does not end: %d pages without an entry", t.Empty)
	}
	if t.Place = next; t.pages&(t.pages-1) == 0 {
		t.seen = next // detects cycles of any length
	}
	return nil
}
