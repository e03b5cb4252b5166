package page

import (
	"cmp"
	"fmt"
	"slices"

	"warp/internal/human"
	"warp/pkg/report/svg"
	"warp/pkg/results"
)

const (
	maxHostCharts = 64
	hostPoints    = 60 // points of a small chart
	maxNamedHosts = 5  // hosts named above the charts
)

// A hostSeries has the figures of a host over time, for all operations together.
type hostSeries struct {
	name         string
	rate         float64 // bytes/s, or objects/s if no bytes are moved
	p99          float64 // of the operation with the most requests
	errors       uint64
	requests     uint64
	x, y         []float64
	slow, failed string // how it differs from the others
}

// byHost draws a small chart for each host, and names the hosts that differ from the others.
func (p *Page) byHost(g *group) {
	hosts := g.hosts()
	if len(hosts) < 2 {
		return
	}
	all := make([]hostSeries, len(hosts))
	for i, name := range hosts {
		all[i] = g.hostSeries(name)
	}
	s := section{ID: "hosts", Title: "By host", Lead: markOutliers(all)}
	s.Blocks = append(s.Blocks, p.hostCharts(g, all))
	for _, op := range g.ops {
		if len(op.Hosts) > 1 {
			s.table(partTable(op, "host", op.Hosts, len(op.Hosts) > 4))
		}
	}
	p.section(s)
}

func (g *group) hostSeries(name string) hostSeries {
	begin, length := g.length()
	c := hostSeries{name: human.Host(name)}
	sums := make([]float64, hostPoints)
	seen, largest := 0, uint64(0)
	bytes := g.hasBytes()
	for _, op := range g.ops {
		i := slices.IndexFunc(op.Hosts, func(h results.Part) bool { return h.Name == name })
		if i < 0 {
			continue
		}
		h := &op.Hosts[i]
		c.requests, c.errors = c.requests+h.Requests, c.errors+h.Errors
		if bytes {
			c.rate += h.BytesPerS
		} else {
			c.rate += h.ObjectsPerS
		}
		if h.Duration != nil && h.Inside >= largest {
			largest, c.p99 = h.Inside, h.Duration.P99
		}
		seen = max(seen, len(h.Segments))
		for k := range h.Segments {
			seg := &h.Segments[k]
			amount := seg.Objects
			if bytes {
				amount = float64(seg.Bytes)
			}
			addSpread(sums, length, seg.Start.Sub(begin).Seconds(), seg.DurationS, amount)
		}
	}
	if seen == 0 || length <= 0 {
		return c
	}
	n := min(hostPoints, seen)
	for i := range n {
		from, to := i*hostPoints/n, (i+1)*hostPoints/n
		sum := 0.0
		for _, v := range sums[from:to] {
			sum += v
		}
		width := float64(to-from) / hostPoints * length
		c.x = append(c.x, (float64(from)+float64(to))/2/hostPoints*length)
		c.y = append(c.y, sum/width)
	}
	return c
}

// addSpread distributes an amount evenly over the intervals in which it was moved.
func addSpread(sums []float64, length, start, duration, amount float64) {
	if duration <= 0 || length <= 0 {
		return
	}
	width := length / float64(len(sums))
	first, last := int(start/width), int((start+duration)/width)
	for i := max(first, 0); i <= last && i < len(sums); i++ {
		from, to := max(start, float64(i)*width), min(start+duration, float64(i+1)*width)
		if to > from {
			sums[i] += amount * (to - from) / duration
		}
	}
}

// markOutliers marks hosts that differ much from the others, and names them.
func markOutliers(all []hostSeries) []string {
	rates, tails := make([]float64, 0, len(all)), make([]float64, 0, len(all))
	for i := range all {
		rates, tails = append(rates, all[i].rate), append(tails, all[i].p99)
	}
	var slow []string
	for i := range all {
		h := &all[i]
		if by, far := results.FromMedian(h.rate, rates); far && by < 0 {
			h.slow = fmt.Sprintf("%.0f %% less throughput than the median host", -100*by)
		}
		if by, far := results.FromMedian(h.p99, tails); far && by > 0 {
			if h.slow != "" {
				h.slow += ", "
			}
			h.slow += fmt.Sprintf("p99 %.1f times the median host's", 1+by)
		}
		if h.errors > 0 {
			h.failed = human.PluralGrouped(h.errors, "error") + " (" + percentOf(h.errors, h.requests) + ")"
		}
		if h.slow != "" {
			slow = append(slow, h.name+": "+h.slow+".")
		}
	}
	if len(slow) == 0 {
		if len(all) < 3 {
			return nil
		}
		return []string{"No host is far from the others."}
	}
	if len(slow) > maxNamedHosts {
		slow = append(slow[:maxNamedHosts], fmt.Sprintf("%d more hosts are far from the others.", len(slow)-maxNamedHosts))
	}
	return slow
}

// hostCharts draws all hosts on the same scale.
func (p *Page) hostCharts(g *group, all []hostSeries) block {
	_, length := g.length()
	bytes := g.hasBytes()
	largest := 0.0
	for i := range all {
		for _, v := range all[i].y {
			largest = max(largest, v)
		}
	}
	u := unitOf(rateUnit(bytes), largest)
	b := block{Title: "Throughput of each host, " + u.name}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(x, y hostSeries) int { // those that differ first
		return min(len(y.slow), 1) - min(len(x.slow), 1)
	})
	for i := range ordered {
		h := &ordered[i]
		if len(h.x) < 2 {
			continue
		}
		if len(b.Grid) == maxHostCharts {
			b.Notes = append(b.Notes, fmt.Sprintf("%d more hosts are in the tables.", len(ordered)-i))
			break
		}
		color, state := 0, ""
		if h.slow != "" {
			color, state = 1, "warn"
		}
		lines := []svg.Line{{Label: h.name, Color: color, Y: u.in(h.y)}}
		c := &svg.Chart{Title: h.name, Desc: rangeOf(lines, func(v float64) string { return svg.Number(v) + " " + u.name }), X: h.x, XScale: svg.Seconds(length),
			YScale: svg.FromZero(largest/u.size, svg.Number), Lines: lines, Height: 90}
		c.XScale.KeepEnds()
		c.YScale.KeepEnds()
		shown := p.draw("host", c)
		shown.State, shown.Note, shown.Legend = state, cmp.Or(h.slow, rateText(h.rate, bytes)), nil
		if h.failed != "" {
			shown.Note += "; " + h.failed
		}
		b.Grid = append(b.Grid, *shown)
	}
	return b
}
