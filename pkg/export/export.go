// Package export writes runs in the formats of other tools: rows as CSV, and
// latencies as the files of HdrHistogram.
package export

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"warp/pkg/results"
	"warp/pkg/stats"
)

// errNoTimes says that there is nothing to make a histogram of.
var errNoTimes = errors.New("the individual latencies of its operations are not known")

// ErrSeveral says that there is more than one operation.
var ErrSeveral = errors.New("a .hgrm file has one distribution")

// operations returns the measured operations, or the operations of the
// preparation if there are no others.
func operations(r *results.Report) (all []*results.Operation) {
	for _, prepared := range []bool{false, true} {
		for i := range r.Operations {
			op := &r.Operations[i]
			if op.DurationHDR != "" && prepared == (r.Groups[op.Group].Kind == results.KindPreparation) {
				all = append(all, op)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}

// tag names an operation among all of a report, without what ends a tag.
func tag(r *results.Report, op *results.Operation) string {
	name := op.Op
	if op.Statement > 0 {
		name += fmt.Sprint("-", op.Statement)
	}
	if op.Warmup {
		name += "-warmup"
	}
	if run := r.Groups[op.Group].Run; run != "" {
		name += "-" + run
	}
	return strings.Map(func(r rune) rune {
		if r == ',' || r <= ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
}

// Percentiles writes the percentiles of the only operation of a report in ms, as
// HdrHistogram's outputPercentileDistribution does (.hgrm).
func Percentiles(w io.Writer, r *results.Report) error {
	ops := operations(r)
	switch len(ops) {
	case 0:
		return errNoTimes
	case 1:
	default:
		var names []string
		for _, op := range ops {
			if name := tag(r, op); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return fmt.Errorf("%w, and these are %d: %s", ErrSeveral, len(ops), strings.Join(names, ", "))
	}
	h, err := hdr.Decode([]byte(ops[0].DurationHDR))
	if err != nil {
		return fmt.Errorf("the histogram of %s cannot be read: %w", ops[0].Op, err)
	}
	_, err = h.PercentilesPrint(w, 5, float64(time.Millisecond))
	return err
}

// An interval is a histogram of a piece of time.
type interval struct {
	tag      string
	from, to int64
	times    *stats.Sparse
}

// Intervals writes the segments of all operations as HdrHistogram's log of
// intervals, version 1.3 (.hlog): with the operation as the tag, and times in
// seconds since the first one.
func Intervals(w io.Writer, r *results.Report) error {
	var all []interval
	for _, op := range operations(r) {
		name := tag(r, op)
		for _, p := range op.Pieces {
			if p.Latency != nil {
				all = append(all, interval{name, p.From, p.To, p.Latency})
			}
		}
	}
	if len(all) == 0 {
		return errNoTimes
	}
	slices.SortStableFunc(all, func(a, b interval) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return strings.Compare(a.tag, b.tag)
	})
	base := all[0].from / 1e6 // ms, as times are printed
	text := time.UnixMilli(base).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	seconds := func(ms int64) float64 { return float64(ms) / 1e3 }
	_, err := fmt.Fprintf(w, "#[Logged by warp]\n#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch), %s]\n"+
		"#[BaseTime: %.3f (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		seconds(base), text, seconds(base))
	for i := range all {
		if err != nil {
			return err
		}
		v := &all[i]
		payload, failed := v.times.HDR().Encode(hdr.V2CompressedEncodingCookieBase)
		if failed != nil {
			return failed
		}
		_, err = fmt.Fprintf(w, "Tag=%s,%.3f,%.3f,%.3f,%s\n", v.tag, seconds(v.from/1e6-base), seconds(v.to/1e6-v.from/1e6),
			float64(v.times.Max())/1e6, payload)
	}
	return err
}
