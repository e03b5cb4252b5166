package s3

import (
	"context"
	"unicode/utf8"

	"warp/pkg/store"
)

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if len(l.Prefix) > 1024 || !utf8.ValidString(l.Prefix) {
		return store.ErrUnsupported
	}
	var track store.ListTrack
	for {
		more, err := e.listPage(ctx, &l, &track, each, tr)
		if err == store.ErrUnsupported && track.Place != (store.ListPlace{}) {
			// Another engine would begin again, and list twice what was listed already.
			err = store.Errorf("RequestFailed", 0, "the credentials changed to signature V2 within a listing")
		}
		if err != nil || !more {
			return err
		}
	}
}

// listPage requests a page and calls each for its entries. It returns whether another page follows.
func (e *Engine) listPage(ctx context.Context, l *store.List, track *store.ListTrack, each func(store.Object) bool, tr *store.Trace) (more bool, err error) {
	q := e.begin("GET", l.Bucket, "")
	defer q.end()
	q.headers = l.Headers
	if l.Versions {
		q.listVersions(l, track.Place)
	} else {
		q.listObjects(l, track.Place)
	}
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return false, err
	}
	if r.Status != 200 {
		return false, e.refused(r, q)
	}
	s := r.State().(*state)
	defer s.trim()
	page := &s.listing
	if err = page.read(&s.scanner, r.Document(), r.Status, r.Memory()); err == errNoListing {
		err = wrongDocument(r, "a listing")
	}
	if err != nil {
		return false, store.AsError(err, r.Status)
	}
	next, goesOn := page.next, page.truncated
	if track.Empty++; !page.empty() {
		track.Empty = 0
	}
	if !page.handOut(l.Bucket, each) || !goesOn {
		return false, nil
	}
	return true, track.Advance(next, int(tr.Status()))
}

// maxKept limits the memory of a listing that is kept for the next one.
const maxKept = 4 << 20

func (s *state) trim() {
	if cap(s.listing.text) > maxKept || cap(s.listing.entries) > maxKept/entrySize {
		s.listing = listing{}
	}
}

func delimiter(l *store.List) string {
	if l.Flat {
		return "/"
	}
	return ""
}

// listObjects sets the parameters that minio-go sends, sorted by name.
func (q *request) listObjects(l *store.List, place store.ListPlace) {
	if place.Token != "" {
		q.Param("continuation-token", place.Token)
	}
	q.Param("delimiter", delimiter(l))
	q.Param("encoding-type", "url")
	q.Param("fetch-owner", "true")
	q.Param("list-type", "2")
	q.listRest(l)
}

func (q *request) listVersions(l *store.List, place store.ListPlace) {
	q.Param("delimiter", delimiter(l))
	q.Param("encoding-type", "url")
	if place.Key != "" {
		q.Param("key-marker", place.Key)
	}
	q.listRest(l)
	if place.Version != "" {
		q.Param("version-id-marker", place.Version)
	}
	q.Param("versions", "")
}

func (q *request) listRest(l *store.List) {
	if l.MaxKeys > 0 {
		q.Number("max-keys", l.MaxKeys)
	}
	if l.Metadata {
		q.Param("metadata", "true")
	}
	q.Param("prefix", l.Prefix)
}
