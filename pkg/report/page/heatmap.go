package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"time"

	"warp/internal/human"
	"warp/pkg/results"
)

const (
	heatColumns = 400 // at most; where there are more segments, neighbours are taken together
	heatRows    = 8   // for each doubling of time
	heatLevels  = 10
)

// heat draws how many requests took how long over time: the more, the more
// opaque. It is nil where nothing was counted.
func (p *Page) heat(op *results.Operation, begin time.Time, length float64, marks []mark) *chart {
	m := op.HeatMap
	if m == nil || len(m.BoundsMS) < 2 || len(m.Counts) == 0 || len(m.Counts) != len(op.Segments) || length <= 0 {
		return nil
	}
	picture, scale, most := heatPicture(m)
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if p.quick {
		encoder.CompressionLevel = png.BestSpeed
	}
	if err := encoder.Encode(&b, picture); err != nil {
		return nil // it is in memory, and of a size that PNG has
	}
	id := p.nextID("heat")
	title := visible(op.Op) + ": requests by latency over time"
	desc := fmt.Sprintf("The darker, the more requests started in that time and took so long: up to %s.", counted(most, "request", "requests"))
	last := &op.Segments[len(op.Segments)-1]
	xs := seconds(length)
	from, to := xs.at(math.Max(0, op.Segments[0].Start.Sub(begin).Seconds())), xs.at(last.Start.Sub(begin).Seconds()+last.DurationS)
	var svg strings.Builder
	frame(&svg, id, title, desc, 180, &xs, &scale, "", func() {
		fmt.Fprintf(&svg, `<image class="pixels" x="%s" y="0" width="%s" height="100%%" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
			percent(from), percent(math.Max(0, to-from)), base64.StdEncoding.EncodeToString(b.Bytes()))
		drawMarks(&svg, marks, &xs)
	})
	return &chart{ID: id, Title: title, SVG: template.HTML(svg.String()), Note: desc}
}

// heatPicture has a column for each segment, or for some, and rows on a
// logarithmic scale.
func heatPicture(m *results.HeatMap) (picture *image.Paletted, s scale, most uint64) {
	least, largest := m.BoundsMS[0], m.BoundsMS[len(m.BoundsMS)-1]
	if least <= 0 {
		least = m.BoundsMS[1] / 2
	}
	s = scale{log: true, min: least, max: largest}
	for e := math.Floor(math.Log10(least)); e <= math.Ceil(math.Log10(largest)); e++ {
		s.tick(math.Pow(10, e), tickMillis(math.Pow(10, e)))
	}
	per := (len(m.Counts) + heatColumns - 1) / heatColumns
	width := (len(m.Counts) + per - 1) / per
	columns := make([][]uint64, width)
	for i, counts := range m.Counts {
		column := &columns[i/per]
		for k, n := range counts {
			if k >= len(*column) {
				*column = append(*column, 0)
			}
			(*column)[k] += n
			most = max(most, (*column)[k])
		}
	}
	height := max(1, int(math.Ceil(heatRows*math.Log2(largest/least))))
	picture = image.NewPaletted(image.Rect(0, 0, width, height), heatColors())
	bucket := len(m.BoundsMS) - 2
	for y := range height {
		ms := least * math.Pow(largest/least, 1-(float64(y)+.5)/float64(height))
		for bucket > 0 && m.BoundsMS[bucket] > ms {
			bucket--
		}
		for x, column := range columns {
			if bucket < len(column) && column[bucket] > 0 {
				level := math.Ceil((heatLevels - 1) * math.Log1p(float64(column[bucket])) / math.Log1p(float64(most)))
				picture.SetColorIndex(x, y, uint8(min(level, heatLevels-1)))
			}
		}
	}
	return picture, s, most
}

// heatColors are shades of one color that is seen on white and on black; the first is nothing at all.
func heatColors() color.Palette {
	all := color.Palette{color.NRGBA{}}
	for i := 1; i < heatLevels; i++ {
		all = append(all, color.NRGBA{0x2a, 0x7f, 0xc0, uint8(40 + 215*i/(heatLevels-1))})
	}
	return all
}

// heats has a picture for each operation.
func (p *Page) heats(g *group) (all []block) {
	begin, length := g.length()
	for _, op := range g.ops {
		if c := p.heat(op, begin, length, g.marks(begin)); c != nil {
			all = append(all, block{Chart: c})
		}
	}
	return all
}

// maxSlowest bounds the table of the slowest requests of all operations.
const maxSlowest = 20

// slowest has the slowest requests of all operations.
func (p *Page) slowest(g *group) {
	type request struct {
		op string
		*results.SlowRequest
	}
	var all []request
	for _, op := range g.ops {
		for i := range op.Slowest {
			all = append(all, request{visible(op.Op), &op.Slowest[i]})
		}
	}
	sortBy(all, func(r request) float64 { return -r.DurationMS })
	all = all[:min(len(all), maxSlowest)]
	if len(all) == 0 {
		return
	}
	begin, _ := g.length()
	t := &table{Caption: "The slowest requests that started in the window", Head: []string{"took", "operation", "after", "at", "object", "host", "size", "status"}, Text: true}
	if g.Clients > 1 {
		t.Head = append(t.Head, "client")
	}
	for _, r := range all {
		status := dash
		if r.Status > 0 {
			status = fmt.Sprint(r.Status)
		}
		if r.Error != "" {
			status = strings.TrimPrefix(status+" "+visible(r.Error), dash+" ")
		}
		size := dash
		if r.Bytes > 0 {
			size = human.Bytes(float64(r.Bytes))
		}
		row := []string{human.Millis(r.DurationMS), r.op, elapsed(math.Round(10*math.Max(0, r.Start.Sub(begin).Seconds())) / 10),
			r.Start.In(p.loc).Format("15:04:05.000"), visible(cut(r.Key, 200)), withoutScheme(r.Host), size, status}
		if g.Clients > 1 {
			row = append(row, visible(r.Client))
		}
		t.Rows = append(t.Rows, row)
	}
	p.section(section{ID: "slowest", Title: "Slowest requests", Blocks: []block{{Table: t}}})
}
