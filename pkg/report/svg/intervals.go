package svg

import (
	"fmt"
	"math"
	"strings"
)

// An Interval is an estimate and its interval, in percent.
type Interval struct {
	Label, Class string
	Estimate     float64
	Low, High    *float64 // nil for a side without a limit
	Known        bool     // whether there is an interval
}

// Intervals is a chart with a row for each estimate, around 0.
type Intervals struct {
	ID, Title, Desc string
	Band            float64 // up to this distance from 0, nothing matters
	Rows            []Interval
}

// scale covers all estimates and limits, up to 200 %.
func (c *Intervals) scale() (s Scale, reach float64) {
	reach = 2 * c.Band
	for i := range c.Rows {
		r := &c.Rows[i]
		for _, v := range []*float64{&r.Estimate, r.Low, r.High} {
			if v != nil {
				reach = math.Max(reach, math.Min(math.Abs(*v), 200))
			}
		}
	}
	step := niceStep(reach / 2.5)
	reach = step * math.Ceil(reach/step)
	s = Scale{min: -reach, max: reach}
	for v := -reach; v <= reach+step/2; v += step {
		s.tick(v, strings.Replace(fmt.Sprintf("%+g %%", math.Round(v/step)*step), "+0 %", "0", 1))
	}
	return s, reach
}

// SVG draws the chart.
func (c *Intervals) SVG() string {
	xs, reach := c.scale()
	var b strings.Builder
	x := func(v float64) string { return percent(math.Min(math.Max(xs.at(v), 0), 1)) }
	n := len(c.Rows)
	var ys Scale
	for i := range c.Rows {
		ys.ticks = append(ys.ticks, tick{1 - (float64(i)+.5)/float64(n), c.Rows[i].Label})
	}
	frame(&b, c.ID, c.Title, c.Desc, 24*n+8, &xs, &ys, "", func() {
		fmt.Fprintf(&b, `<rect class="matters" fill="%s" x="%s" width="%s" y="0" height="100%%"/><line class="zero" stroke="%s" x1="50%%" x2="50%%" y1="0" y2="100%%"/>`,
			gridColor, x(-c.Band), percent(xs.at(c.Band)-xs.at(-c.Band)), mutedText)
		for i := range c.Rows {
			r := &c.Rows[i]
			y := percent((float64(i) + .5) / float64(n))
			low, high := -reach, reach
			if r.Low != nil {
				low = *r.Low
			}
			if r.High != nil {
				high = *r.High
			}
			look := stateColor(r.Class)
			if r.Known {
				fmt.Fprintf(&b, `<line class="interval %s" stroke="%s" stroke-width="3" stroke-linecap="round" x1="%s" x2="%s" y1="%s" y2="%s"/>`, r.Class, look, x(low), x(high), y, y)
			}
			fmt.Fprintf(&b, `<circle class="estimate %s" fill="%s" cx="%s" cy="%s" r="4"/>`, r.Class, look, x(r.Estimate), y)
		}
	})
	return b.String()
}
