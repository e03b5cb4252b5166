package stats_test

import (
	"fmt"
	"testing"

	"warp/pkg/stats"
)

// TestJoinEnds has windows of several lengths, divided into parts of 10.
func TestJoinEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ parts, want []float64 }{
		{[]float64{10, 10, 10}, []float64{10, 10, 10}},
		{[]float64{10, 10, 5}, []float64{10, 10, 5}},
		{[]float64{10, 10, 4.9}, []float64{10, 14.9}},
		{[]float64{3, 10, 10}, []float64{13, 10}},
		{[]float64{5, 10, 9}, []float64{5, 10, 9}},
		{[]float64{3, 10, 4}, []float64{17}},
		{[]float64{3, 4}, []float64{7}},
		{[]float64{4}, []float64{4}},
		{nil, nil},
	} {
		before := fmt.Sprint(test.parts)
		got := stats.JoinEnds(test.parts, 10, func(x *float64) float64 { return *x }, func(a, b *float64) float64 { return *a + *b })
		if fmt.Sprint(got) != fmt.Sprint(test.want) || fmt.Sprint(test.parts) != before {
			t.Errorf("%v: %v, want %v", test.parts, got, test.want)
		}
	}
}
