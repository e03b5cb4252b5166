package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/oplog"
	"warp/pkg/stats"
)

// Conditions describe how the figures of a run were measured.
type Conditions struct {
	ClientUS        *float64 `json:"client_us"`        // mean part of a request's time that was the client's, in µs; null if unknown
	CPUShare        *float64 `json:"cpu_share"`        // of the CPU time that warp could use, 0 to 1; null if unknown
	IntervalPercent *float64 `json:"interval_percent"` // wider half of the 95 % interval of the throughput; null if there is none
	Unsent          int64    `json:"unsent"`           // requests that were due in the window and never sent
	Unanswered      uint64   `json:"unanswered"`       // requests without an answer at the end of the drain
	Sentence        string   `json:"sentence"`         // the same for people
}

const (
	intervalSegments = 10 // fewer segments give no interval
	intervalShare    = .95
)

// unsentWithoutRows counts the unsent requests of stages of which no request was sent, so that they are in no group.
func (r *Report) unsentWithoutRows(t *oplog.Trailer) (n int64) {
	for _, t := range append([]*oplog.Trailer{t}, t.Merged...) {
		if t == nil {
			continue
		}
		for i, u := range t.UnsentStages {
			if !slices.ContainsFunc(r.Operations, func(o Operation) bool { return o.Statement == i+1 }) {
				n += u.Count
			}
		}
	}
	return n
}

// setConditions describes the conditions of a run of warp. Other tools' logs say nothing about them. unsent requests are in no
// group.
func (r *Report) setConditions(unsent int64) {
	if r.ClientLoad == nil {
		return
	}
	c := &Conditions{Unsent: unsent}
	main, sum, count := r.MainGroup(), 0., uint64(0)
	for i := range r.Groups {
		if r.Groups[i].Kind == KindPreparation || main >= 0 && i != main {
			continue
		}
		c.Unsent += r.Groups[i].Unsent
		for _, o := range r.OperationsOf(i) {
			if o.Unanswered != nil {
				c.Unanswered += o.Unanswered.Requests
			}
			if s := o.Client; s != nil {
				sum, count = sum+s.Mean*float64(s.Count), count+s.Count
			}
		}
	}
	if count > 0 {
		c.ClientUS = new(1e3 * sum / float64(count))
	}
	if l := r.ClientLoad; l.WallSeconds > 0 && l.Cores > 0 {
		c.CPUShare = new(exact.Ratio(l.CPUSeconds, l.WallSeconds*l.Cores))
	}
	if main >= 0 {
		c.IntervalPercent = r.throughputInterval(main)
	}
	c.Sentence = c.sentence()
	r.Conditions = c
}

// throughputInterval returns the wider half of the interval of a group's throughput, or of its objects per second without payload,
// in percent; nil if the group is too short.
func (r *Report) throughputInterval(group int) *float64 {
	var first *Operation
	var bytes, objects, seconds []float64
	for _, o := range r.OperationsOf(group) {
		if first == nil {
			first, bytes, objects, seconds = o, make([]float64, len(o.Segments)), make([]float64, len(o.Segments)), make([]float64, len(o.Segments))
		}
		if len(o.Segments) != len(first.Segments) {
			return nil
		}
		for k := range o.Segments {
			s := &o.Segments[k]
			if !s.Start.Equal(first.Segments[k].Start) {
				return nil
			}
			seconds[k] = s.DurationS
			bytes[k] += s.BytesPerS * s.DurationS
			objects[k] += s.ObjectsPerS * s.DurationS
		}
	}
	if len(seconds) < intervalSegments {
		return nil
	}
	parts, sum, all := bytes, 0., 0.
	if r.Groups[group].BytesPerS == 0 {
		parts = objects
	}
	for k := range parts {
		sum, all = sum+parts[k], all+seconds[k]
	}
	low, high, ok := stats.RatioInterval(parts, seconds, intervalShare)
	if !ok || sum <= 0 || all <= 0 {
		return nil
	}
	mean := sum / all
	return new(100 * math.Max(high-mean, mean-low) / mean)
}

func (c *Conditions) sentence() string {
	var took []string
	cost := ""
	if c.ClientUS != nil {
		took = append(took, human.Millis(*c.ClientUS/1e3)+" per request")
	} else {
		cost = "the client's part of a request is unknown"
	}
	if c.CPUShare != nil {
		took = append(took, fmt.Sprintf("%.0f %% of the CPU time", 100**c.CPUShare))
	}
	if len(took) > 0 {
		cost = strings.TrimPrefix(cost+"; the client took "+human.And(took), "; ")
	}
	interval := "too short for an interval of the throughput"
	if c.IntervalPercent != nil {
		interval = fmt.Sprintf("throughput ±%.1f %%", *c.IntervalPercent)
	}
	return fmt.Sprintf("%s; %s; %s unsent, %d unanswered", cost, interval, human.Plural(c.Unsent, "request"), c.Unanswered)
}
