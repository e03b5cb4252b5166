package consistency

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"warp/pkg/oplog"
	"warp/pkg/results"
)

// The properties.
const (
	Create         = "create"
	Register       = "register"
	DeleteIf       = "delete"
	CompleteIf     = "complete"
	ReadAfterWrite = "read-after-write"
	ListAfterWrite = "list-after-write"
	Whole          = "whole"
)

// Properties returns the names of all properties, in the order of the report.
func Properties() []string {
	return []string{Create, Register, DeleteIf, CompleteIf, ReadAfterWrite, ListAfterWrite, Whole}
}

// NeedsCondition reports whether a property is about requests with conditions, which stores may ignore.
func NeedsCondition(property string) bool {
	return property == Create || property == Register || property == DeleteIf || property == CompleteIf
}

// A Log is what a run has recorded.
type Log struct {
	oplog.Checks
	Operations []Operation
	Marks      []oplog.Mark
	Seconds    float64 // length of the measured part; 0 = unknown
	ClockError time.Duration
	// Complete has the numbers of the clients whose logs are complete. A token of another client may be of a write that
	// nobody has recorded.
	Complete map[int]bool
	// CutOff has the names of the clients whose logs were cut off, and the time from which on requests may be missing.
	CutOff map[string]int64
}

// maxShown is how many violations of a property are shown.
const maxShown = 3

// A judge collects what the rules find.
type judge struct {
	log        *Log
	anyMissing bool // a client whose log is not complete wrote or was read
}

// A property collects what is known about one.
type property struct {
	results.ConsistencyProperty
	unsupported []*Operation // conditions that the store does not know
	ignored     bool
	decisive    int  // requests without which nothing is known about the property
	progress    bool // an update succeeded
	open        []results.Violation
	firsts      map[string]bool // rules of which a violation is shown
	latencies   []time.Duration // of conditional writes that were answered
	from, to    int64
}

// A history is what was done to one key, or to the keys of one folder.
type history struct {
	key      string
	property *property
	ops      []*Operation          // by start
	deletion string                // token of the only deletion; "" = there is none
	refused  map[string]*Operation // writes that took no effect, by token; nil = not collected yet
}

// Judge judges all properties of a log.
func Judge(log *Log) *results.Consistency {
	j := &judge{log: log}
	properties := make(map[string]*property)
	for _, name := range log.Properties {
		p := &property{firsts: map[string]bool{}}
		p.Property = name
		properties[name] = p
	}
	histories := make(map[string]*history)
	var all []*history
	for i := range log.Operations {
		o := &log.Operations[i]
		p := properties[o.Property]
		if p == nil {
			continue
		}
		p.count(o)
		j.anyMissing = j.anyMissing || j.missing(o.Sent) || j.missing(o.Received)
		key := o.Key
		if o.Property == ListAfterWrite {
			key = FolderOf(key)
		}
		h := histories[o.Property+" "+key]
		if h == nil {
			h = &history{key: key, property: p}
			histories[o.Property+" "+key] = h
			all = append(all, h)
		}
		h.ops = append(h.ops, o)
	}
	slices.SortFunc(all, func(a, b *history) int { return strings.Compare(a.key, b.key) })
	for _, h := range all {
		j.leaveOut(h)
		j.history(h)
	}
	r := &results.Consistency{ClockErrorMS: milliseconds(log.ClockError), Incomplete: j.anyMissing}
	for _, name := range log.Properties {
		r.Properties = append(r.Properties, j.verdict(properties[name]))
	}
	return r
}

// leaveOut removes the reads that a deletion may explain which the cut-off log of its client lacks. What a read shows by a
// token needs no such care.
func (j *judge) leaveOut(h *history) {
	cut := int64(forever)
	for _, o := range h.ops {
		if at, ok := j.log.CutOff[o.Client]; ok && o.isWrite() {
			cut = min(cut, at)
		}
	}
	h.ops = slices.DeleteFunc(h.ops, func(o *Operation) bool {
		return o.End > cut && (o.Op == List || o.isRead() && o.Received == "")
	})
}

// missing reports whether a token may be from a write that is not recorded.
func (j *judge) missing(token string) bool {
	t, ok := ParseToken(token)
	return ok && !j.log.Complete[t.Client]
}

// history judges one history.
func (j *judge) history(h *history) {
	slices.SortStableFunc(h.ops, func(a, b *Operation) int { return cmp.Compare(a.Start, b.Start) })
	for _, o := range h.ops {
		if o.Op == Delete && o.Outcome != Failed {
			h.deletion = o.Sent
		}
		j.body(h, o)
	}
	switch h.property.Property {
	case Create, CompleteIf, DeleteIf, Register:
		seen := h.seenTokens()
		j.conditional(h, seen)
		if h.property.Property == Register {
			j.counter(h, seen)
		}
	case ReadAfterWrite:
		j.readAfterWrite(h)
	case ListAfterWrite:
		j.listAfterWrite(h)
	case Whole:
		j.whole(h)
	}
}

// count counts an operation.
func (p *property) count(o *Operation) {
	if p.from == 0 || o.Start < p.from {
		p.from = o.Start
	}
	p.to = max(p.to, o.End)
	p.Operations++
	if o.Outcome == Unknown {
		p.Unknown++
	}
	if o.Outcome == Refused {
		p.Refused++
	}
	if o.answered() && (o.isRead() || o.Op == List) || o.Condition != "" && (o.Outcome == Won || o.Outcome == Lost) {
		p.Checks++
	}
	if o.decides() {
		p.decisive++
	}
	if strings.HasPrefix(o.Condition, ifFalse) || o.Condition == "" || !o.isWrite() {
		return
	}
	switch o.Outcome {
	case Won:
		p.Won++
	case Lost:
		p.Lost++
	default:
		return
	}
	p.latencies = append(p.latencies, time.Duration(o.End-o.Start))
}

// around returns an operation and the writes and reads of its key before it.
func (h *history) around(o *Operation) []*Operation {
	i := slices.Index(h.ops, o)
	return slices.Clone(h.ops[max(0, i-3):min(len(h.ops), i+2)])
}

// unwritten returns the violated rule if a read saw a token of no write that may have taken effect, and the operations that
// prove it.
func (h *history) unwritten(r *Operation) (rule string, ops []*Operation) {
	if h.refused == nil {
		h.refused = map[string]*Operation{}
		for _, o := range h.ops {
			if o.isWrite() && !o.mayTakeEffect() {
				h.refused[o.Sent] = o
			}
		}
	}
	if o := h.refused[r.Received]; o != nil {
		return ruleRefusedWrite, withoutNil(o, r)
	}
	return ruleNeverWritten, []*Operation{r}
}

// byNumber sorts the writes of a folder by the numbers of its objects.
func (h *history) byNumber() map[uint64][]*Operation {
	all := make(map[uint64][]*Operation)
	for _, o := range h.ops {
		if n, ok := NumberOf(o.Key); ok && o.isWrite() {
			all[n] = append(all[n], o)
		}
	}
	return all
}
