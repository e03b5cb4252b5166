package consistency

import "strings"

// Rules about bodies.
const (
	ruleMixture  = "a body has parts of several versions"
	ruleDamaged  = "a body is damaged"
	ruleNotThat  = "a read with If-Match returned another version"
	ruleTooEarly = "an upload was visible before it was completed"
)

// Marks of bodies that are not one whole version, see [Body.Finish].
const (
	mixMark    = "+"
	damageMark = "!"
)

// damaged reports whether a body is not one whole version.
func damaged(received string) bool {
	return strings.Contains(received, mixMark) || strings.HasPrefix(received, damageMark)
}

// body judges one body by itself.
func (j *judge) body(h *history, o *Operation) {
	if o.Op != Get || o.Outcome != Won {
		return
	}
	switch {
	case strings.HasPrefix(o.Received, damageMark):
		j.violated(h.property, ruleDamaged, []*Operation{o})
	case strings.Contains(o.Received, mixMark):
		j.violated(h.property, ruleMixture, h.writesOf(o))
	}
}

// whole judges a key that is overwritten while others read it.
func (j *judge) whole(h *history) {
	writes := map[string]*Operation{}
	for _, o := range h.ops {
		if o.isWrite() && o.mayTakeEffect() {
			writes[o.Sent] = o
		}
	}
	for _, r := range h.ops {
		if r.Op != Get || r.Outcome != Won || damaged(r.Received) {
			continue
		}
		write := writes[r.Received]
		wanted, ranged := strings.CutPrefix(r.Condition, ifIs)
		switch {
		case write == nil && !j.missing(r.Received):
			rule, ops := h.unwritten(r)
			j.violated(h.property, rule, ops)
		case write != nil && write.Start > r.End:
			j.violated(h.property, ruleTooEarly, withoutNil(write, r))
		case ranged && wanted != r.Received:
			j.violated(h.property, ruleNotThat, withoutNil(writes[wanted], write, r))
		}
	}
}

// writesOf returns a read of a mixture, and the writes that are mixed.
func (h *history) writesOf(r *Operation) []*Operation {
	all := []*Operation{r}
	tokens := strings.Split(r.Received, mixMark)
	for _, o := range h.ops {
		for _, t := range tokens {
			if o.isWrite() && o.Sent == t {
				all = append(all, o)
			}
		}
	}
	return withoutNil(all...)
}
