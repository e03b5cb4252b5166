package azure

import (
	"context"
	"net/http"
	"strings"

	"warp/pkg/store"
)

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if len(l.Headers) > 0 {
		return store.ErrUnsupported
	}
	var include []string
	if l.Versions {
		include = append(include, "versions")
	}
	if l.Metadata {
		include = append(include, "metadata")
	}
	return e.list(ctx, &l, include, func(found *entry) (bool, error) { return each(found.Object), nil }, tr)
}

// list calls each for every entry, page after page, until it returns false.
func (e *Engine) list(ctx context.Context, l *store.List, include []string, each func(*entry) (bool, error), tr *store.Trace) error {
	return store.EachPage(func(at store.ListPlace) (end store.PageEnd, err error) {
		p, err := e.page(ctx, l, include, at.Token, tr)
		if err != nil {
			return end, err
		}
		defer p.memory.Free()
		goesOn, err := p.handOut(each)
		return store.PageEnd{Found: len(p.entries), More: goesOn && p.next != "", Next: store.ListPlace{Token: p.next}}, err
	})
}

// handOut calls each for every entry, until it returns false.
func (p *page) handOut(each func(*entry) (bool, error)) (goesOn bool, err error) {
	for i := range p.entries {
		if goesOn, err := each(&p.entries[i]); err != nil || !goesOn {
			return false, err
		}
	}
	return true, nil
}

// page requests one page. The caller frees its memory.
func (e *Engine) page(ctx context.Context, l *store.List, include []string, marker string, tr *store.Trace) (p page, err error) {
	q := e.begin(http.MethodGet, l.Bucket, "")
	defer q.End()
	q.Param("restype", "container")
	q.Param("comp", "list")
	if l.Prefix != "" {
		q.Param("prefix", l.Prefix)
	}
	if l.Flat {
		q.Param("delimiter", "/")
	}
	if len(include) > 0 {
		q.Param("include", strings.Join(include, ","))
	}
	if l.MaxKeys > 0 {
		q.Number("maxresults", l.MaxKeys)
	}
	if marker != "" {
		q.Param("marker", marker)
	}
	r, err := e.send(ctx, q, tr)
	if err != nil {
		return p, err
	}
	if p, err = readPage(r.Document(), r.Status, l, r.Memory()); err == nil {
		p.memory = r.Memory().Move()
	}
	return p, err
}
