package oplog

import "warp/pkg/oplog/field"

// Checks are what warp consistency checked in a run.
type Checks struct {
	Properties  []string          `json:"properties"`
	NotPromised map[string]string `json:"not_promised,omitempty"` // properties that the store does not promise, and why
	Unordered   bool              `json:"unordered,omitempty"`    // listings of the store have no order
}

// A Check is what a request of warp consistency says about the store.
type Check struct {
	Property  string // that it checks
	Outcome   string // won, lost, absent, refused, unknown, unsupported, failed
	Condition string // "" = none
	Sent      string // token of what it wrote
	Received  string // token of what it read
}

// append appends the columns of a check, which are empty without one.
func (c *Check) append(b []byte) []byte {
	if c == nil {
		return append(b, "\t\t\t\t\t"...)
	}
	for _, text := range [...]string{c.Property, c.Outcome, c.Condition, c.Sent, c.Received} {
		b = field.AppendText(append(b, '\t'), text)
	}
	return b
}

// setCheck sets one column of a check.
func (r *Reader) setCheck(rec *Record, c column, f []byte) {
	if len(f) == 0 {
		return
	}
	if rec.Check == nil {
		rec.Check = new(Check)
	}
	switch c {
	case colProperty:
		rec.Check.Property = r.checks.Get(f)
	case colOutcome:
		rec.Check.Outcome = r.checks.Get(f)
	case colCondition:
		rec.Check.Condition = string(f)
	case colTokenSent:
		rec.Check.Sent = string(f)
	case colTokenReceived:
		rec.Check.Received = string(f)
	}
}
