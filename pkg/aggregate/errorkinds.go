package aggregate

import (
	"slices"
	"strings"

	"warp/pkg/oplog"
)

const (
	maxKinds     = 64  // codes that are counted separately
	maxErrorText = 512 // bytes of an error's text that are kept
	otherKinds   = "(more codes)"
)

// errorKinds counts failed requests by code. A store can make up any number
// of codes; beyond maxKinds the last ones in the alphabet are counted together.
// Because the choice goes by name, those that keep a count of their own were
// never thrown out, and neither order nor merging changes anything.
type errorKinds struct {
	byCode map[string]*errorKind
	other  errorKind
}

// An errorKind is how often a code occurred, and its first occurrence.
type errorKind struct {
	count    uint64
	start    int64 // of the first, unix ns
	text     string
	endpoint string
}

func (k *errorKind) merge(o errorKind) {
	if o.count == 0 {
		return
	}
	n := k.count + o.count
	if k.count == 0 || o.before(k) {
		*k = o
	}
	k.count = n
}

// before orders by time; the rest only decides between equal times, so that
// the order of rows does not.
func (k *errorKind) before(o *errorKind) bool {
	if k.start != o.start {
		return k.start < o.start
	}
	if k.text != o.text {
		return k.text < o.text
	}
	return k.endpoint < o.endpoint
}

func (e *errorKinds) add(r *oplog.Record) {
	one := errorKind{count: 1, start: r.Start, text: r.Err, endpoint: r.Endpoint}
	one.text = one.text[:min(len(one.text), maxErrorText)]
	code := r.Code()
	k := e.byCode[code]
	if k != nil && !one.before(k) {
		k.count++
		return
	}
	// What is kept must not hold on to the batch that it came from.
	one.text, one.endpoint = strings.Clone(one.text), strings.Clone(one.endpoint)
	e.merge(strings.Clone(code), one)
}

func (e *errorKinds) merge(code string, o errorKind) {
	if e.byCode == nil {
		e.byCode = map[string]*errorKind{}
	}
	k := e.byCode[code]
	if k == nil {
		k = &errorKind{}
		e.byCode[code] = k
	}
	k.merge(o)
	if len(e.byCode) > maxKinds {
		last := slices.Max(e.codes())
		e.other.merge(*e.byCode[last])
		delete(e.byCode, last)
	}
}

func (e *errorKinds) mergeAll(o *errorKinds) {
	for code, k := range o.byCode {
		e.merge(code, *k)
	}
	e.other.merge(o.other)
}

// codes are sorted.
func (e *errorKinds) codes() []string {
	codes := make([]string, 0, len(e.byCode))
	for c := range e.byCode {
		codes = append(codes, c)
	}
	slices.Sort(codes)
	return codes
}
