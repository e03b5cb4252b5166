package generator

import (
	"fmt"
	"slices"
	"strings"
)

// exactKind begins the specification of exact sizes.
const exactKind = "exact"

// An exactSizes draws one of a few sizes by weight. Draws are stratified, so the shares of few
// objects are as close to the weights as their number allows.
type exactSizes struct {
	sizes []int64
	weights
}

func parseExact(spec, rest string) (Sizes, error) {
	var s exactSizes
	for item := range strings.SplitSeq(rest, ",") {
		size, sum, err := parseWeighted(strings.TrimSpace(item), s.total())
		if err == nil && slices.Contains(s.sizes, size) {
			err = fmt.Errorf("this size occurs twice")
		}
		if err != nil {
			return nil, fmt.Errorf("sizes %q: %q: %w", spec, item, err)
		}
		s.sizes, s.weights = append(s.sizes, size), append(s.weights, sum)
	}
	return s, nil
}

func (s exactSizes) Next(r *Stream) int64 {
	return s.sizes[s.item(min(int64(r.stratified()*float64(s.total())), s.total()-1))]
}

func (s exactSizes) Min() int64 { return slices.Min(s.sizes) }
func (s exactSizes) Max() int64 { return slices.Max(s.sizes) }

func (s exactSizes) Mean() float64 {
	mean := 0.0
	for i, size := range s.sizes {
		mean += float64(size) * float64(s.of(i)) / float64(s.total())
	}
	return mean
}

func (s exactSizes) String() string {
	items := make([]string, len(s.sizes))
	for i, size := range s.sizes {
		items[i] = fmt.Sprintf("%s:%d", FormatSize(size), s.of(i))
	}
	return exactKind + ":" + strings.Join(items, ",")
}
