package svg_test

import (
	"fmt"
	"strings"

	"warp/pkg/report/svg"
)

func ExampleChart() {
	c := &svg.Chart{ID: "rate", Title: "Throughput, MiB/s",
		X: []float64{0.5, 1.5, 2.5}, XScale: svg.Seconds(3),
		Lines: []svg.Line{{Label: "GET", Y: []float64{80, 100, 95}}}}
	c.YScale = svg.FromZero(svg.Highest(c.Lines), svg.Number)
	fmt.Println(strings.Contains(c.SVG(), "<title id=\"rate-t\">Throughput, MiB/s</title>"))
	// Output: true
}
