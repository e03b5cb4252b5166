package ops

import (
	"testing"

	"warp/internal/check"
	"warp/pkg/bench"
	"warp/pkg/generator"
)

func TestStrangeOpsDoNotTravel(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"Objects":1,"Unknown":2}`, `{"Sizes":"big"}`, `[]`} {
		if _, err := bench.DecodeOp(&Get{}, []byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestSizesTravel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec   string
		random bool
	}{{"10MiB", false}, {"10MiB", true}, {"1KiB,1MiB", true}, {"4096:10,8192:1", false},
		{"4KiB-1MiB", false}, {"exact:4KiB:60,1MiB:30", false}, {"lognormal:median=64KiB,sigma=1.5,max=1GiB", false}} {
		sizes, err := generator.ParseSizes(test.spec, test.random)
		check.OK(t, err)
		text, err := bench.EncodeOp(&Put{Sizes: sizes})
		check.OK(t, err)
		op, err := bench.DecodeOp(&Put{}, text)
		check.OK(t, err)
		a, b := generator.Rand(1, "x", 0), generator.Rand(1, "x", 0)
		for range 1000 {
			if x, y := sizes.Next(a), op.(*Put).Sizes.Next(b); x != y {
				t.Fatalf("%+v: %d became %d", test, x, y)
			}
		}
	}
}
