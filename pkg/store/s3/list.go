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
	return store.EachPage(func(at store.ListPlace) (store.PageEnd, error) {
		end, err := e.listPage(ctx, &l, at, each, tr)
		if err == store.ErrUnsupported && at != (store.ListPlace{}) {
			// Another engine would begin again, and list twice what was listed already.
			err = store.Errorf("RequestFailed", 0, "the credentials changed to signature V2 within a listing")
		}
		return end, err
	})
}

// listPage requests the page at a place and calls each for its entries.
func (e *Engine) listPage(ctx context.Context, l *store.List, at store.ListPlace, each func(store.Object) bool, tr *store.Trace) (end store.PageEnd, err error) {
	q := e.begin("GET", l.Bucket, "")
	defer q.end()
	q.headers = l.Headers
	if l.Versions {
		q.listVersions(l, at)
	} else {
		q.listObjects(l, at)
	}
	r, err := e.do(ctx, q, tr)
	if err != nil {
		return end, err
	}
	if r.Status != 200 {
		return end, e.refused(r, q)
	}
	s := r.State().(*state)
	defer s.trim()
	page := &s.listing
	if err = page.read(&s.scanner, r.Document(), r.Status, r.Memory()); err == errNoListing {
		err = wrongDocument(r, "a listing")
	}
	if err != nil {
		return end, store.AsError(err, r.Status)
	}
	end = store.PageEnd{Found: len(page.entries), More: page.truncated, Next: page.next}
	end.More = page.handOut(l.Bucket, each) && end.More
	return end, nil
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
