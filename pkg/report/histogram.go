package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"

	"warp/internal/exact"
	"warp/internal/human"
	"warp/pkg/results"
)

// maxEncoded limits histograms in reports that may come from anywhere. warp writes a few KiB.
const maxEncoded = 64 << 10

// Histogram decodes the histogram of a report. It returns nil if there is no valid one.
func Histogram(encoded string) (h *hdrhistogram.Histogram) {
	if encoded == "" || len(encoded) > maxEncoded {
		return nil
	}
	defer func() {
		if recover() != nil { // the library does not check all its input
			h = nil
		}
	}()
	h, err := hdrhistogram.Decode([]byte(encoded))
	if err != nil || h.TotalCount() == 0 {
		return nil
	}
	return h
}

// histogramRows is the max number of lines of a histogram.
const histogramRows = 8

// limits returns round limits of durations in ns, the last of them above the max: as many as there
// is room for.
func limits(shortest, longest int64) (all []int64) {
	for _, steps := range [][]int64{{10, 15, 20, 30, 50, 70}, {10, 20, 50}, {10, 30}, {10}} {
		all = roundLimits(shortest, longest, steps)
		if len(all) <= histogramRows {
			return all
		}
	}
	// More decades than lines: the first of them have one.
	return all[len(all)-histogramRows:]
}

// roundLimits returns the multiples of powers of ten by the steps, in tenths, from above the shortest to above the
// longest duration.
func roundLimits(shortest, longest int64, steps []int64) (all []int64) {
	for decade := int64(1); decade < 1e17; decade *= 10 {
		for _, k := range steps {
			limit := decade * k / 10
			if limit <= shortest || decade == 1 && k%10 != 0 {
				continue
			}
			all = append(all, limit)
			if limit > longest {
				return all
			}
		}
	}
	return all
}

// histogram shows how many requests took how long.
func (p *compactPrinter) histogram(op *results.Operation) {
	h := Histogram(op.DurationHDR)
	if h == nil {
		return
	}
	all := limits(h.Min(), h.Max())
	counts := make([]int64, len(all))
	row := 0
	for _, bar := range h.Distribution() {
		for row < len(all)-1 && bar.From >= all[row] {
			row++
		}
		counts[row] += bar.Count
	}
	names, numbers, values := make([]string, len(all)), make([]string, len(all)), make([]float64, len(all))
	for i, limit := range all {
		names[i] = "< " + human.Duration(time.Duration(limit))
		numbers[i] = percentOf(uint64(counts[i]), uint64(h.TotalCount()))
		values[i] = float64(counts[i])
	}
	p.bars("latency", names, numbers, values)
}

// percentOf never rounds to 0 unless the value is 0.
func percentOf(n, total uint64) string {
	share := 100 * exact.Ratio(float64(n), float64(total))
	if n > 0 && share < 0.01 {
		return "<0.01%"
	}
	return fmt.Sprintf("%.2f%%", share)
}

// bars draws values as bars, with their names and numbers.
func (p *compactPrinter) bars(title string, names, numbers []string, values []float64) {
	widest := 0
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	const number = len("100.00%")
	room := min(60, p.MaxWidth()-len(title)-widest-number-len("      "))
	highest := slices.Max(values)
	for i, name := range names {
		label := strings.Repeat(" ", len(title))
		if i == 0 {
			label = title
		}
		bar := ""
		if room > 0 {
			bar = strings.Repeat("█", int(exact.Ratio(values[i], highest)*float64(room)))
		}
		if bar == "" && values[i] > 0 && room > 0 {
			bar = "▏"
		}
		name = strings.Repeat(" ", widest-utf8.RuneCountInString(name)) + name
		p.Line("%s", strings.TrimRight(p.cut(fmt.Sprintf("%s  %s  %*s  ", label, name, number, numbers[i])+bar), " "))
	}
}
