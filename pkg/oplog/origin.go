package oplog

import (
	"errors"
	"fmt"
	"math"
)

// An OriginIndex finds whose row a row of a merged log is.
type OriginIndex map[string][]Origin // by client

// NewOriginIndex refuses origins that overlap. The index of none is nil.
func NewOriginIndex(origins []Origin) (OriginIndex, error) {
	if len(origins) == 0 {
		return nil, nil
	}
	x := make(OriginIndex)
	for _, o := range origins {
		if o.Threads > math.MaxUint32-o.Offset {
			return nil, fmt.Errorf("the header counts %d threads from %d", o.Threads, o.Offset)
		}
		for _, p := range x[o.Client] {
			if o.Offset < p.Offset+p.Threads && p.Offset < o.Offset+o.Threads {
				return nil, fmt.Errorf("the header gives threads of client %q to two runs", o.Client)
			}
		}
		x[o.Client] = append(x[o.Client], o)
	}
	return x, nil
}

// Find returns the origin of a thread as the merged log numbers it.
func (x OriginIndex) Find(client string, thread uint32) *Origin {
	list := x[client]
	for i := range list {
		if o := &list[i]; thread >= o.Offset && thread-o.Offset < o.Threads {
			return o
		}
	}
	return nil
}

// resolve gives a record the run and the thread that it had before the merge.
func (x OriginIndex) resolve(rec *Record) bool {
	o := x.Find(rec.Client, rec.Thread)
	if o == nil {
		return false
	}
	rec.Run = o.Run
	rec.Thread -= o.Offset
	return true
}

// maxOrigins bounds the search for overlaps in a hostile header.
const maxOrigins = 1 << 12

func (r *Reader) indexOrigins() error {
	var err error
	if len(r.header.Merged) > maxOrigins {
		err = errors.New("the header names more clients than a log can have")
	} else {
		r.origins, err = NewOriginIndex(r.header.Merged)
	}
	if err != nil {
		return &ReadError{File: r.name, Line: 2, Err: err}
	}
	return nil
}
