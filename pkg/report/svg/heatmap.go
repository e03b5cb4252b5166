package svg

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"

	"warp/internal/human"
)

const (
	heatColumns = 400 // max; if there are more segments, neighbours share a column
	heatRows    = 8   // for each doubling of time
	heatLevels  = 10
)

// A HeatMap draws how many requests took how long over time: the more, the more opaque.
type HeatMap struct {
	ID, Title string
	Bounds    []float64  // of the latencies, in ms
	Counts    [][]uint64 // by segment and latency
	From, To  float64    // the time of the segments, in seconds
	Length    float64    // length of the time axis, in seconds
	Marks     []Mark
	Quick     bool // compress less
}

// heatColors are shades of one color that is visible on white and on black; the first is transparent.
func heatColors() color.Palette {
	all := color.Palette{color.NRGBA{}}
	for i := 1; i < heatLevels; i++ {
		all = append(all, color.NRGBA{0x2a, 0x7f, 0xc0, uint8(40 + 215*i/(heatLevels-1))})
	}
	return all
}

// SVG draws the map. desc describes it in words.
func (h *HeatMap) SVG() (drawn, desc string) {
	picture, ys, highest := h.picture()
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if h.Quick {
		encoder.CompressionLevel = png.BestSpeed
	}
	_ = encoder.Encode(&b, picture) // writing to memory cannot fail, and PNG supports the size
	desc = fmt.Sprintf("The darker, the more requests started in that time and took so long: up to %s.", human.Choose(highest, "1 request", Number(float64(highest))+" requests"))
	xs := Seconds(h.Length)
	from, to := xs.at(math.Max(0, h.From)), xs.at(h.To)
	var s strings.Builder
	frame(&s, h.ID, h.Title, desc, 180, &xs, &ys, "", func() {
		fmt.Fprintf(&s, `<image class="pixels" x="%s" y="0" width="%s" height="100%%" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`,
			percent(from), percent(math.Max(0, to-from)), base64.StdEncoding.EncodeToString(b.Bytes()))
		drawMarks(&s, h.Marks, &xs)
	})
	return s.String(), desc
}

// picture returns a column for each segment, or for several, with rows on a
// logarithmic scale.
func (h *HeatMap) picture() (picture *image.Paletted, s Scale, highest uint64) {
	shortest, longest := h.Bounds[0], h.Bounds[len(h.Bounds)-1]
	if shortest <= 0 {
		shortest = h.Bounds[1] / 2
	}
	s = Scale{log: true, min: shortest, max: longest}
	for e := math.Floor(math.Log10(shortest)); e <= math.Ceil(math.Log10(longest)); e++ {
		s.tick(math.Pow(10, e), tickMillis(math.Pow(10, e)))
	}
	per := (len(h.Counts) + heatColumns - 1) / heatColumns
	width := (len(h.Counts) + per - 1) / per
	columns := make([][]uint64, width)
	for i, counts := range h.Counts {
		column := &columns[i/per]
		for k, n := range counts {
			if k >= len(*column) {
				*column = append(*column, 0)
			}
			(*column)[k] += n
			highest = max(highest, (*column)[k])
		}
	}
	height := max(1, int(math.Ceil(heatRows*math.Log2(longest/shortest))))
	picture = image.NewPaletted(image.Rect(0, 0, width, height), heatColors())
	bucket := len(h.Bounds) - 2
	for y := range height {
		ms := shortest * math.Pow(longest/shortest, 1-(float64(y)+.5)/float64(height))
		for bucket > 0 && h.Bounds[bucket] > ms {
			bucket--
		}
		for x, column := range columns {
			if bucket < len(column) && column[bucket] > 0 {
				level := math.Ceil((heatLevels - 1) * math.Log1p(float64(column[bucket])) / math.Log1p(float64(highest)))
				picture.SetColorIndex(x, y, uint8(min(level, heatLevels-1)))
			}
		}
	}
	return picture, s, highest
}
