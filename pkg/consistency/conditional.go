package consistency

import (
	"math"
	"strings"
)

// Rules about requests with conditions.
const (
	ruleTwoWinners   = "two requests replaced the same version"
	ruleTwoCreations = "two requests created the object"
	ruleIgnored      = "the store accepted a request whose condition was false"
	ruleAborted      = "an upload was completed after it had been aborted"
	ruleOwnWrite     = "412 for its own write: repeated on the way"
	ruleOwnDeletion  = "404 or 412 for its own deletion: repeated on the way"
	ruleSameValue    = "two acknowledged updates gave the counter the same value"
	ruleLostUpdate   = "the counter is lower than the number of acknowledged updates"
	ruleExtraUpdate  = "the counter is higher than the number of updates"
)

// conditional judges a key whose versions are replaced under conditions.
func (j *judge) conditional(h *history, seen map[string]*Operation) {
	effects := map[string][]*Operation{} // by condition
	for _, o := range h.ops {
		j.falseCondition(h, o)
		if !o.isWrite() {
			continue
		}
		if o.Condition != "" && !strings.HasPrefix(o.Condition, ifFalse) && (o.acknowledged() || seen[o.Sent] != nil) {
			effects[o.Condition] = append(effects[o.Condition], o)
		}
	}
	for condition, all := range effects {
		j.oneEffect(h, condition, all, seen)
	}
	for _, c := range judgeRegister(h.accesses(seen, j)) {
		if c.rule == ruleNeverWritten {
			c.rule, c.ops = h.unwritten(c.ops[0])
		}
		j.violated(h.property, c.rule, c.ops)
	}
}

// falseCondition judges a request whose condition was false: nothing else used the key.
func (j *judge) falseCondition(h *history, o *Operation) {
	condition, isFalse := strings.CutPrefix(o.Condition, ifFalse)
	switch {
	case !isFalse:
	case o.Outcome == Unsupported && strings.HasPrefix(condition, ifLike): // the store may know that it has no such ETag
	case o.Outcome == Unsupported:
		h.property.unsupported = append(h.property.unsupported, o)
	case o.Outcome != Won || !o.isWrite():
	case condition == Aborted:
		j.violated(h.property, ruleAborted, h.around(o))
	default:
		h.property.ignored = true
		j.violated(h.property, ruleIgnored, h.around(o))
	}
}

// oneEffect judges the requests with the same condition that took effect.
func (j *judge) oneEffect(h *history, condition string, all []*Operation, seen map[string]*Operation) {
	if len(all) > 1 {
		rule := ruleTwoWinners
		if condition == IfAbsent {
			rule = ruleTwoCreations
		}
		for _, o := range all {
			if r := seen[o.Sent]; r != nil {
				all = append(all, r)
			}
		}
		j.violated(h.property, rule, withoutNil(all...))
		return
	}
	if o := all[0]; o.Outcome == Lost {
		rule := ruleOwnWrite
		if o.Op == Delete {
			rule = ruleOwnDeletion
		}
		j.undecided(h.property, rule, withoutNil(o, seen[o.Sent]))
	}
}

// seenTokens returns the first read that saw each token.
func (h *history) seenTokens() map[string]*Operation {
	seen := make(map[string]*Operation)
	for _, o := range h.ops {
		if o.isRead() && o.answered() {
			if token := h.readToken(o); token != "" && seen[token] == nil {
				seen[token] = o
			}
		}
	}
	return seen
}

// readToken returns the token of the version that a read saw. That of an object which is absent is the token of its
// deletion: keys have one at most.
func (h *history) readToken(o *Operation) string {
	if o.Outcome == Absent {
		return h.deletion
	}
	return o.Received
}

// accesses returns the history as accesses to a register.
func (h *history) accesses(seen map[string]*Operation, j *judge) (all []access) {
	written := map[string]bool{}
	for _, o := range h.ops {
		switch {
		case o.isWrite() && (o.acknowledged() || seen[o.Sent] != nil && o.Outcome != Failed) && !strings.HasPrefix(o.Condition, ifFalse):
			written[o.Sent] = true
			all = append(all, access{o.Start, o.effectEnd(), true, o.Sent, o})
			if replaced, ok := replacedToken(o.Condition); ok { // it was the current version at the same instant
				all = append(all, access{o.Start, o.effectEnd(), false, replaced, o})
			}
		case o.Op == Get && o.answered() && !damaged(o.Received), o.Op == Stat && o.Outcome == Absent:
			all = append(all, access{o.Start, o.End, false, h.readToken(o), o})
		}
	}
	for _, a := range all {
		if !a.write && a.value != "" && !written[a.value] && j.missing(a.value) {
			written[a.value] = true
			all = append(all, access{-forever, forever, true, a.value, nil})
		}
	}
	return all
}

// replacedToken returns the token of the version that a request with the condition replaces, "" for none at all.
func replacedToken(condition string) (token string, ok bool) {
	if condition == IfAbsent {
		return "", true
	}
	return strings.CutPrefix(condition, ifIs)
}

// counter judges the values of a counter that workers increase by one.
func (j *judge) counter(h *history, seen map[string]*Operation) {
	values := map[uint64]*Operation{}
	var counted []*Operation
	for _, o := range h.ops {
		token, ok := ParseToken(o.Sent)
		if !o.isWrite() || !ok || token.Version == 0 || o.Outcome == Failed || strings.HasPrefix(o.Condition, ifFalse) {
			continue
		}
		counted = append(counted, o)
		if !o.acknowledged() {
			continue
		}
		if other := values[token.Version]; other != nil {
			j.violated(h.property, ruleSameValue, withoutNil(other, o))
		}
		values[token.Version] = o
		h.property.progress = h.property.progress || strings.HasPrefix(o.Condition, ifIs)
	}
	j.counterReads(h, counted, seen)
}

// counterReads checks each value that was read: all updates acknowledged before count, and no more than were started. Later reads
// show the same lost updates again, and only another lost update is another violation.
func (j *judge) counterReads(h *history, updates []*Operation, seen map[string]*Operation) {
	ends := newTimes(updates, (*Operation).acknowledged, func(o *Operation) int64 { return o.End })
	starts := newTimes(updates, func(o *Operation) bool { return o.Outcome != Lost || seen[o.Sent] != nil }, func(o *Operation) int64 { return o.Start })
	var lost, extra int
	for _, o := range h.ops {
		token, ok := ParseToken(o.Received)
		if o.Op != Get || o.Outcome != Won || !ok {
			continue
		}
		n := int(min(token.Version, math.MaxInt32))
		if less := ends.before(o.Start) - n; less > lost {
			lost = less
			j.violated(h.property, ruleLostUpdate, append(ends.last(o.Start, 2), o))
		}
		if more := n - starts.before(o.End+1); more > extra && !j.anyMissing {
			extra = more
			j.violated(h.property, ruleExtraUpdate, append(starts.last(o.End+1, 2), o))
		}
	}
}
