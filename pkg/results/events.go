package results

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warp/internal/exact"
	"warp/internal/human"
)

const (
	outageShare  = .10 // of the usual segment; below it, a segment belongs to an outage
	slowHost     = 1.5 // median latency of a slow host, relative to the other hosts together
	hostRequests = 30  // min successful requests of each host for comparing them
	minSegments  = 5   // for a median that outages are compared with
	minObjects   = 20  // in the usual segment, so that none is empty by chance
)

// Events returns one sentence for each thing that happened during the run and that a reader must know before any figure:
// failed assertions, outages, and slow hosts.
func (r *Report) Events() (all []string) {
	all = append(all, r.failedAssertions()...)
	only := r.MainGroup()
	var outages []outage
	var slow []string
	for i := range r.Operations {
		o := &r.Operations[i]
		if g := r.Groups[o.Group]; g.Kind == KindPreparation || o.Warmup || only >= 0 && o.Group != only {
			continue
		}
		if out, ok := o.outage(); ok {
			outages = append(outages, out)
		}
		slow = append(slow, o.slowHosts(r.Parameters["host-select"])...)
	}
	return slices.Concat(all, outageSentences(outages), slow)
}

// outageSentences has one sentence for the operations that had the same outage.
func outageSentences(outages []outage) (all []string) {
	for i, o := range outages {
		var ops []string
		for k, other := range outages {
			if other.sentence != o.sentence {
				continue
			}
			if k < i {
				ops = nil
				break
			}
			ops = append(ops, other.op)
		}
		if len(ops) > 0 {
			all = append(all, human.And(ops)+": "+o.sentence)
		}
	}
	return all
}

func (r *Report) failedAssertions() (all []string) {
	for i := range r.Assertions {
		if a := &r.Assertions[i]; a.Result == Failed {
			all = append(all, "Assertion "+a.Sentence+".")
		}
	}
	return all
}

// An outage is the longest outage of an operation, in words.
type outage struct{ op, sentence string }

// waiting reports whether requests waited for an answer over an end of the segment, or failed.
func (s *Segment) waiting() bool { return s.PartialOps > 0 || s.Errors > 0 }

// outage finds the longest outage: consecutive segments in which hardly any object was done, although requests had been sent.
func (o *Operation) outage() (out outage, ok bool) {
	if len(o.Segments) < minSegments {
		return out, false
	}
	usual, maxOutages := o.usualRate()
	if usual*o.SegmentS < minObjects {
		return out, false
	}
	limit := outageShare * usual
	var longest, length time.Duration
	var begin, from time.Time
	unknown := !slices.ContainsFunc(o.Segments, func(s Segment) bool { return s.FullOps > 0 || s.PartialOps > 0 }) // aggregated results
	outages, waited := 0, false
	for i := range o.Segments {
		s := &o.Segments[i]
		if s.ObjectsPerS >= limit {
			length = 0
			continue
		}
		if length == 0 {
			begin, waited = s.Start, false
		}
		if !waited && (unknown || s.waiting() || i > 0 && o.Segments[i-1].waiting()) {
			outages, waited = outages+1, true
		}
		if length += time.Duration(s.DurationS * float64(time.Second)); waited && length > longest {
			longest, from = length, begin
		}
	}
	if outages == 0 || outages > maxOutages {
		return out, false
	}
	sentence := fmt.Sprintf("outage of at least %s from %s on, in which hardly any request succeeded", human.Brief(longest), from.Format("15:04:05 MST"))
	if outages > 1 {
		sentence += fmt.Sprintf(", the longest of %d outages", outages)
	}
	return outage{o.Op, sentence + "."}, true
}

// usualRate returns the objects per second of the median segment, and how many outages there may be. If most segments have hardly
// any, these may be one long outage: then it is the median of the segments with objects, and on average five of them
// have to follow each other, because an operation that is rare has empty segments, too.
func (o *Operation) usualRate() (rate float64, outages int) {
	var all, busy []float64
	for i := range o.Segments {
		rate := o.Segments[i].ObjectsPerS
		if all = append(all, rate); rate > 0 {
			busy = append(busy, rate)
		}
	}
	slices.Sort(all)
	slices.Sort(busy)
	if median := all[len(all)/2]; median*o.SegmentS >= minObjects || len(busy) == 0 {
		return median, len(all)
	}
	return busy[len(busy)/2], len(busy) / minSegments
}

// slowHosts names hosts that are slower than the others, and how warp selected the hosts; "" = unknown.
func (o *Operation) slowHosts(selection string) (all []string) {
	if len(o.Hosts) < 2 {
		return nil
	}
	var total uint64
	for i := range o.Hosts {
		h := &o.Hosts[i]
		if h.Duration == nil || h.Duration.Count < hostRequests {
			return nil
		}
		total += h.Requests
	}
	for i := range o.Hosts {
		h := &o.Hosts[i]
		others := medianOfOthers(o.Hosts, i)
		if others > 0 && h.Duration.P50 >= slowHost*others {
			all = append(all, fmt.Sprintf("%s: host %s is slow: median %s, other hosts %s; it received %.0f %% of the requests.",
				o.Op, human.Host(h.Name), human.Millis(h.Duration.P50), human.Millis(others), 100*exact.Ratio(float64(h.Requests), float64(total))))
		}
	}
	if len(all) > 0 && selection == "weighed" {
		all[0] = strings.TrimSuffix(all[0], ".") + ", because --host-select=weighed prefers hosts that answer sooner; with --host-select=roundrobin each gets as many."
	}
	const few = 2
	if len(all) > few {
		more := len(all) - few
		all = append(all[:few], fmt.Sprintf("%s: so %s %d more.", o.Op, human.Choose(more, "is", "are"), more))
	}
	return all
}

// medianOfOthers returns the median of the median latencies of all hosts but one.
func medianOfOthers(hosts []Part, except int) float64 {
	var medians []float64
	for i := range hosts {
		if i != except {
			medians = append(medians, hosts[i].Duration.P50)
		}
	}
	slices.Sort(medians)
	return medians[len(medians)/2]
}
