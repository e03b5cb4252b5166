package lean

import (
	"context"
	"unicode/utf8"

	"warp/pkg/store"
	"warp/pkg/store/lean/answer"
)

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if len(l.Prefix) > 1024 || !utf8.ValidString(l.Prefix) {
		return store.ErrUnsupported
	}
	var track store.ListTrack
	for {
		c, err := e.listPage(ctx, &l, track.Place, tr)
		if err == store.ErrUnsupported && track.Place != (store.ListPlace{}) {
			// Another engine would begin again, and list twice what was listed already.
			err = store.Errorf("RequestFailed", 0, "the credentials changed to signature V2 within a listing")
		}
		if err != nil {
			return err
		}
		page := &c.listing
		next, goesOn, found := page.Next, page.Truncated, !page.Empty()
		wanted := page.HandOut(l.Bucket, each)
		c.release()
		if track.Empty++; found {
			track.Empty = 0
		}
		if !wanted || !goesOn {
			return nil
		}
		if err := track.Advance(next, int(tr.Status())); err != nil {
			return err
		}
	}
}

// listPage requests a page and leaves it in the connection's listing.
func (e *Engine) listPage(ctx context.Context, l *store.List, place store.ListPlace, tr *store.Trace) (*conn, error) {
	q := request{method: "GET", ref: store.Ref{Bucket: l.Bucket}, headers: l.Headers}
	if l.Versions {
		q.listVersions(l, place)
	} else {
		q.listObjects(l, place)
	}
	c, err := e.do(ctx, &q, tr)
	if err != nil {
		return nil, err
	}
	if c.head.Status != 200 {
		return nil, e.refused(ctx, c, &q, tr)
	}
	if err = c.receiveDocument(tr); err == nil {
		err = c.listing.Read(&c.scanner, c.kept, c.head.Status)
		if err == answer.ErrNoListing {
			err = c.wrongDocument("a listing")
		}
	}
	if err != nil {
		return nil, e.failed(ctx, c, err, tr)
	}
	return c, nil
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
		q.param("continuation-token", place.Token)
	}
	q.param("delimiter", delimiter(l))
	q.param("encoding-type", "url")
	q.param("fetch-owner", "true")
	q.param("list-type", "2")
	q.listRest(l)
}

func (q *request) listVersions(l *store.List, place store.ListPlace) {
	q.param("delimiter", delimiter(l))
	q.param("encoding-type", "url")
	if place.Key != "" {
		q.param("key-marker", place.Key)
	}
	q.listRest(l)
	if place.Version != "" {
		q.param("version-id-marker", place.Version)
	}
	q.param("versions", "")
}

func (q *request) listRest(l *store.List) {
	if l.MaxKeys > 0 {
		q.paramNumber("max-keys", l.MaxKeys)
	}
	if l.Metadata {
		q.param("metadata", "true")
	}
	q.param("prefix", l.Prefix)
}
