package aggregate

import (
	"maps"
	"slices"
	"strings"

	"warp/pkg/oplog"
)

const (
	maxKinds     = 64  // codes counted separately
	maxErrorText = 512 // bytes kept of an error's text
	otherKinds   = "(more codes)"
)

// errorKinds counts failed requests by code. A store can invent any number of
// codes, so beyond maxKinds the alphabetically last ones are counted together.
// The choice depends only on names: a code with its own count always had it,
// and neither the order of rows nor merging changes the result.
type errorKinds struct {
	ByCode map[string]*errorKind
	Other  errorKind
}

// An errorKind is the count of a code and its first occurrence.
type errorKind struct {
	Count    uint64
	Start    int64 // of the first, unix ns
	Text     string
	Endpoint string
}

func (k *errorKind) merge(o errorKind) {
	if o.Count == 0 {
		return
	}
	n := k.Count + o.Count
	if k.Count == 0 || o.before(k) {
		*k = o
	}
	k.Count = n
}

// before orders by time. The other fields break ties, so that the order of rows
// does not matter.
func (k *errorKind) before(o *errorKind) bool {
	if k.Start != o.Start {
		return k.Start < o.Start
	}
	if k.Text != o.Text {
		return k.Text < o.Text
	}
	return k.Endpoint < o.Endpoint
}

func (e *errorKinds) add(r *oplog.Record) {
	one := errorKind{Count: 1, Start: r.Start, Text: r.Err, Endpoint: r.Endpoint}
	one.Text = one.Text[:min(len(one.Text), maxErrorText)]
	code := r.Code()
	k := e.ByCode[code]
	if k != nil && !one.before(k) {
		k.Count++
		return
	}
	// Clone, so that the batch of the row can be freed.
	one.Text, one.Endpoint = strings.Clone(one.Text), strings.Clone(one.Endpoint)
	e.merge(strings.Clone(code), one)
}

func (e *errorKinds) merge(code string, o errorKind) {
	if e.ByCode == nil {
		e.ByCode = map[string]*errorKind{}
	}
	k := e.ByCode[code]
	if k == nil {
		k = &errorKind{}
		e.ByCode[code] = k
	}
	k.merge(o)
	if len(e.ByCode) > maxKinds {
		last := slices.Max(slices.Collect(maps.Keys(e.ByCode)))
		e.Other.merge(*e.ByCode[last])
		delete(e.ByCode, last)
	}
}

func (e *errorKinds) mergeAll(o *errorKinds) {
	for code, k := range o.ByCode {
		e.merge(code, *k)
	}
	e.Other.merge(o.Other)
}
