package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warp/internal/check"
)

func whole() Kind {
	return Kind{
		Parse: func(s string) (float64, error) {
			n, err := strconv.Atoi(s)
			if err != nil {
				return 0, fmt.Errorf("%q is not a whole number", s)
			}
			return float64(n), nil
		},
		Format: func(x float64) string { return strconv.Itoa(int(x)) }, Whole: true,
	}
}

func TestParseAxes(t *testing.T) {
	t.Parallel()
	kind := func(flag string) (Kind, error) {
		switch flag {
		case "n":
			return whole(), nil
		case "text":
			return Kind{}, nil
		}
		return Kind{}, errors.New("unknown flag --" + flag)
	}
	for _, test := range []struct{ in, want string }{
		{"n=1..512x2", "n: 1 2 4 8 16 32 64 128 256 512"},
		{"n=1..100x3", "n: 1 3 9 27 81"},
		{"n=1..10x1.5", "n: 1 2 3 5 8"},
		{"n=10..50+20", "n: 10 30 50"},
		{"n=10..49+20", "n: 10 30"},
		{"n=7..7+1", "n: 7"},
		{"n=8,4,2", "n: 8 4 2"},
		{"--n=8", "n: 8"},
		{"text=a..b,c", "text: a..b c"},
		{"text=a..bx2", "text: a..bx2"},
		{"text=a,b n=1,2", "text: a b; n: 1 2"},
		{"text=a,b text=c", "text: a,b c"},
		{"n=3..1x2", `error: n: "3..1x2" ends below its start`},
		{"n=0..8x2", `error: n: "0..8x2" needs a start above 0 and a factor above 1`},
		{"n=1..8x1", `error: n: "1..8x1" needs a start above 0 and a factor above 1`},
		{"n=1..8+0", `error: n: "1..8+0" needs a step above 0`},
		{"n=1..8x2e", `error: n: "2e" is not a factor`},
		{"n=1..8", `error: n: "1..8" has no step: write FROM..TOxFACTOR or FROM..TO+STEP, such as 1..8x2`},
		{"n=1..1000000+1", `error: n: "1..1000000+1" has more than 1000 values`},
		{"n=1,x", "n: 1 x"}, // which the flag refuses
		{"n=1..x+1", `error: n: "x" is not a whole number`},
		{"n=1,1", "error: n: 1 occurs twice"},
		{"n=1,01", "error: n: 01 occurs twice"},
		{"n=1,", "error: n: a value is empty"},
		{"n", `error: "n" is not FLAG=VALUES, such as concurrent=1..64x2 or obj.size=4KiB,1MiB`},
		{"x=1", "error: unknown flag --x"},
		{"n=1 text=a x=1", "error: 3 flags are varied, and a sweep has at most two: n, text, x"},
		{"n=1..100+1 text=a,b,c,d,e,f,g,h,i,j,k", "error: 1100 points are more than 1000"},
	} {
		axes, err := ParseAxes(strings.Fields(test.in), kind)
		var got []string
		for _, a := range axes {
			got = append(got, a.Flag+": "+strings.Join(a.Values, " "))
		}
		text := strings.Join(got, "; ")
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != test.want {
			t.Errorf("%s: %s, want %s", test.in, text, test.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	axes := []Axis{{Flag: "a", Values: []string{"x", "y"}}, {Flag: "b", Values: []string{"1", "2", "3"}}}
	var all []string
	for p := range Points(axes) {
		all = append(all, strings.Join(Values(axes, p), ""))
	}
	if got := strings.Join(all, " "); got != "x1 x2 x3 y1 y2 y3" {
		t.Error(got)
	}
}

// Each point is measured as often as it is to be, in each repeat once, and the first one once more.
func TestOrder(t *testing.T) {
	t.Parallel()
	order := Order(10, 3, 7)
	if len(order) != 31 || order[30] != order[0] || !slices.Equal(order, Order(10, 3, 7)) || slices.Equal(order, Order(10, 3, 8)) {
		t.Fatal(order)
	}
	for block := range slices.Chunk(order[:30], 10) {
		sorted := slices.Sorted(slices.Values(block))
		if !slices.Equal(sorted, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || slices.Equal(block, sorted) {
			t.Error(block)
		}
	}
}

// The reference is the package usl of R, version 3.0.1: usl(throughput ~ load, specsdm91).
func TestFitOfR(t *testing.T) {
	t.Parallel()
	n := []float64{1, 18, 36, 72, 108, 144, 216}
	x := []float64{64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2}
	l, err := Fit(n, x)
	check.OK(t, err)
	for _, test := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"alpha", l.Alpha, .0277285, 5e-7}, {"beta", l.Beta, .0001044, 5e-8}, {"gamma", l.Gamma, 89.995, 5e-3},
		{"peak", l.Peak, math.Sqrt((1 - .0277285) / .0001044), .1},
	} {
		if math.Abs(test.got-test.want) > test.tolerance {
			t.Errorf("%s is %v, want %v", test.name, test.got, test.want)
		}
	}
}

// A law is found again from its own values, whatever their unit.
func TestFitOfItself(t *testing.T) {
	t.Parallel()
	for _, want := range []Law{{Alpha: .05, Beta: .001, Gamma: 100}, {Alpha: 0, Beta: .01, Gamma: 3e9}, {Alpha: .9, Beta: 1e-5, Gamma: 1e-3}, {Alpha: .2, Beta: 0, Gamma: 5}} {
		var n, x []float64
		for k := 1.0; k <= 512; k *= 2 {
			n, x = append(n, k), append(x, want.At(k))
		}
		l, err := Fit(n, x)
		if err != nil || math.Abs(l.Alpha-want.Alpha) > 1e-5 || math.Abs(l.Beta-want.Beta) > 1e-7 || math.Abs(l.Gamma/want.Gamma-1) > 1e-5 || l.ErrorPercent > .01 {
			t.Errorf("%+v: %+v, %v", want, l, err)
		}
	}
	if _, err := Fit([]float64{1, 2, 4, 8}, []float64{1, 0, 1, 1}); err == nil {
		t.Error("a throughput of 0 was fitted")
	}
}
