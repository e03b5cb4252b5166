package ops

import (
	"strings"
	"testing"

	"warp/internal/check"
	"warp/pkg/generator"
)

func sizesOf(t *testing.T, spec string) generator.Sizes {
	t.Helper()
	s, err := generator.ParseSizes(spec, false)
	check.OK(t, err)
	return s
}

func TestSnowballMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		size      string
		per, conc int
		compress  bool
		says      string
	}{
		{"512KiB", 50, 20, false, ""},
		{"512KiB", 50, 40, false, ""},
		{"512KiB", 50, 41, false, "--obj.size times --concurrent times --objs.per is 1.0 GiB"},
		{"10MiB", 50, 20, false, "is 9.8 GiB"},
		{"10MiB", 50, 20, true, ""},
		{"10MiB", 50, 103, true, "--obj.size times --concurrent is 1.0 GiB"},
		{"11MiB", 50, 1, true, "up to 10MiB"},
		{"1:1,20MiB:1", 50, 2, false, "is 2.0 GiB"},
		{"1000", 1 << 40, 1 << 20, false, "GiB"},
	}
	for _, test := range tests {
		s := Snowball{Sizes: sizesOf(t, test.size), PerTar: test.per, Compress: test.compress}
		err := s.Check(test.conc)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
