package ais

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"warp/pkg/store"
)

// An action is the body of requests about buckets.
type action struct {
	Action string `json:"action"`
	Name   string `json:"name"`
	Value  any    `json:"value"`
}

// Flags of a listing.
const (
	flagCached      = 1 << 0
	flagNoRecursion = 1 << 11
)

// Flags of an entry.
const entryIsDirectory = 1 << 8

// A listing is a request for a page.
type listing struct {
	UUID       string `json:"uuid"`
	Props      string `json:"props"`
	TimeFormat string `json:"time_format"`
	Prefix     string `json:"prefix"`
	Token      string `json:"continuation_token"`
	Flags      string `json:"flags"`
	PageSize   int    `json:"pagesize"`
}

// A page is one page of a listing.
type page struct {
	UUID    string  `json:"uuid"`
	Token   string  `json:"continuation_token"`
	Entries []entry `json:"entries"`

	memory store.Document // to be freed after use
}

type entry struct {
	Name     string `json:"name"`
	Size     int64  `json:"size,string"`
	Checksum string `json:"checksum"`
	Atime    string `json:"atime"`
	Flags    uint16 `json:"flags"`
}

// listProperties are the properties of each object in a listing.
const listProperties = "name,size,checksum,atime"

// List lists page after page.
func (e *Engine) List(ctx context.Context, l store.List, each func(store.Object) bool, tr *store.Trace) error {
	if l.Versions || l.Metadata || len(l.Headers) > 0 {
		return store.ErrUnsupported
	}
	ask := listing{Props: listProperties, TimeFormat: time.RFC3339Nano, Prefix: l.Prefix, Flags: e.listFlags(&l), PageSize: l.MaxKeys}
	return store.EachPage(func(at store.ListPlace) (end store.PageEnd, err error) {
		ask.Token = at.Token
		p, err := e.page(ctx, l.Bucket, &ask, tr)
		if err != nil {
			return end, err
		}
		defer p.memory.Free()
		goesOn, err := p.handOut(l.Bucket, int(tr.Status()), each)
		ask.UUID = p.UUID
		return store.PageEnd{Found: len(p.Entries), More: goesOn && p.Token != "", Next: store.ListPlace{Token: p.Token}}, err
	})
}

func (e *Engine) listFlags(l *store.List) string {
	flags := 0
	if e.ais.Cached {
		flags |= flagCached
	}
	if l.Flat {
		flags |= flagNoRecursion
	}
	return strconv.Itoa(flags)
}

// handOut calls each for every entry, until it returns false.
func (p *page) handOut(bucket string, status int, each func(store.Object) bool) (goesOn bool, err error) {
	for i := range p.Entries {
		o, err := p.Entries[i].object(bucket, status)
		if err != nil || !each(o) {
			return false, err
		}
	}
	return true, nil
}

// page requests one page. The caller frees its memory.
func (e *Engine) page(ctx context.Context, bucket string, ask *listing, tr *store.Trace) (p page, err error) {
	r := e.toBucket(http.MethodGet, bucket)
	defer r.End()
	r.JSON(action{Action: "list", Value: ask})
	reply, err := e.send(ctx, r, "", tr)
	if err != nil {
		return p, err
	}
	if err := reply.CountJSON(unsafe.Sizeof(entry{})); err != nil {
		return p, err
	}
	if err := reply.DecodeJSON("a listing", &p); err != nil {
		return p, err
	}
	p.memory = reply.Memory().Move()
	return p, nil
}

// object converts an entry to a [store.Object].
func (n *entry) object(bucket string, status int) (store.Object, error) {
	o := store.Object{Ref: store.Ref{Bucket: bucket, Key: n.Name}, Size: n.Size, ETag: n.Checksum}
	if o.IsPrefix = n.Flags&entryIsDirectory != 0; o.IsPrefix {
		o.Key = strings.TrimSuffix(n.Name, "/") + "/"
		return o, nil
	}
	if n.Atime == "" {
		return o, nil
	}
	var err error
	if o.LastModified, err = time.Parse(time.RFC3339Nano, n.Atime); err != nil {
		return o, store.BadAnswer(status, "the time of object %.60q is %.40q", n.Name, n.Atime)
	}
	return o, nil
}
