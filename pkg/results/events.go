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
	outageShare  = .10 // of the median segment; below it, a segment belongs to an outage
	slowHost     = 1.5 // median latency of a slow host, relative to the other hosts together
	hostRequests = 30  // min successful requests of each host for comparing them
	minSegments  = 5   // for a median that outages are compared with
	minObjects   = 20  // in the median segment, so that none is empty by chance
)

// Events returns one sentence for each thing that happened during the run and that a reader must know before any figure:
// failed assertions, outages, and slow hosts.
func (r *Report) Events() (all []string) {
	all = append(all, r.failedAssertions()...)
	only := r.MainGroup()
	for i := range r.Operations {
		o := &r.Operations[i]
		if g := r.Groups[o.Group]; g.Kind == KindPreparation || o.Warmup || only >= 0 && o.Group != only {
			continue
		}
		all = append(all, o.outages()...)
		all = append(all, o.slowHosts(r.Parameters["host-select"])...)
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

// outages names the longest outage: consecutive segments in which hardly any object was done.
func (o *Operation) outages() []string {
	if len(o.Segments) < minSegments {
		return nil
	}
	rates := make([]float64, len(o.Segments))
	for i := range o.Segments {
		rates[i] = o.Segments[i].ObjectsPerS
	}
	slices.Sort(rates)
	median := rates[len(rates)/2]
	if median*o.SegmentS < minObjects {
		return nil
	}
	limit := outageShare * median
	var longest, length time.Duration
	var begin, from time.Time
	outages := 0
	for i := range o.Segments {
		s := &o.Segments[i]
		if s.ObjectsPerS >= limit {
			length = 0
			continue
		}
		if length == 0 {
			outages++
			begin = s.Start
		}
		if length += time.Duration(s.DurationS * float64(time.Second)); length > longest {
			longest, from = length, begin
		}
	}
	if outages == 0 {
		return nil
	}
	sentence := fmt.Sprintf("%s: outage of at least %s from %s on, in which hardly any request succeeded", o.Op, human.Brief(longest), from.Format("15:04:05 MST"))
	if outages > 1 {
		sentence += fmt.Sprintf(", the longest of %d outages", outages)
	}
	return []string{sentence + "."}
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
