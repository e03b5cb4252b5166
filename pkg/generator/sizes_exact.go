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
	sums  []int64 // sums[i] is the weight of sizes 0 to i
}

func parseExact(spec, rest string) (Sizes, error) {
	var s exactSizes
	sum := int64(0)
	for item := range strings.SplitSeq(rest, ",") {
		size, newSum, err := parseWeighted(strings.TrimSpace(item), sum)
		if err == nil && slices.Contains(s.sizes, size) {
			err = fmt.Errorf("this size occurs twice")
		}
		if err != nil {
			return nil, fmt.Errorf("sizes %q: %q: %w", spec, item, err)
		}
		sum = newSum
		s.sizes, s.sums = append(s.sizes, size), append(s.sums, sum)
	}
	return s, nil
}

func (s exactSizes) total() int64 { return s.sums[len(s.sums)-1] }

func (s exactSizes) Next(r *Stream) int64 {
	at := min(int64(r.stratified()*float64(s.total())), s.total()-1)
	i, _ := slices.BinarySearch(s.sums, at+1)
	return s.sizes[i]
}

func (s exactSizes) Min() int64 { return slices.Min(s.sizes) }
func (s exactSizes) Max() int64 { return slices.Max(s.sizes) }

// weight returns the weight of size i.
func (s exactSizes) weight(i int) int64 {
	if i == 0 {
		return s.sums[0]
	}
	return s.sums[i] - s.sums[i-1]
}

func (s exactSizes) Mean() float64 {
	mean := 0.0
	for i, size := range s.sizes {
		mean += float64(size) * float64(s.weight(i)) / float64(s.total())
	}
	return mean
}

func (s exactSizes) String() string {
	items := make([]string, len(s.sizes))
	for i, size := range s.sizes {
		items[i] = fmt.Sprintf("%s:%d", FormatSize(size), s.weight(i))
	}
	return exactKind + ":" + strings.Join(items, ",")
}
