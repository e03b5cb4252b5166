package bench

import (
	"fmt"
)

// An ErrorLimit is the number or share of requests that may fail before a run ends.
type ErrorLimit struct {
	Set     bool
	Count   int64
	Percent float64 // used if IsPct
	IsPct   bool
}

// minForPercent is the minimum number of requests for a percentage, since a share of
// few means little.
const minForPercent = 100

// Exceeded reports whether the given number of failures ends a run.
func (l ErrorLimit) Exceeded(failed, sent int64) bool {
	switch {
	case !l.Set:
		return false
	case l.IsPct:
		return sent >= minForPercent && float64(failed)*100 > l.Percent*float64(sent)
	}
	return failed > l.Count
}

// Allows reports whether the given number of failures is within the limit. Without a
// limit it must be 0.
func (l ErrorLimit) Allows(failed, sent int64) bool {
	if !l.Set {
		return failed == 0
	}
	if l.IsPct {
		return float64(failed)*100 <= l.Percent*float64(max(sent, 1))
	}
	return failed <= l.Count
}

func (l ErrorLimit) String() string {
	switch {
	case !l.Set:
		return ""
	case l.IsPct:
		return fmt.Sprintf("%g%%", l.Percent)
	}
	return fmt.Sprint(l.Count)
}
