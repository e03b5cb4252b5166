package generator

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sizes draws the sizes of objects. It has no state: Next depends only on the stream.
type Sizes interface {
	Next(r *Stream) int64
	// Min and Max are the smallest and the largest size that Next can return.
	Min() int64
	Max() int64
	// Mean is the expected size, for estimates of how much a run will upload.
	Mean() float64
	// String returns a specification that ParseSizes parses back, given the same randomize.
	String() string
	encoding.TextMarshaler // for [SizesText]
}

// ParseSizes reads the value of --obj.size.
//
//   - "10MiB": every object has this size. With randomize (--obj.randsize) the size is drawn below it, see
//     logSizes.
//   - "MIN,MAX" (only with randomize): as many objects in each doubling from MAX down to MIN.
//   - "4KiB-1MiB": every size between the two is as likely as any other, so most objects are large.
//   - "4096:10740,8192:1685,16384:1623": buckets of upper border and weight. Within a bucket sizes are uniform
//     from the previous border (not included) to its own; the first bucket starts at 1. Buckets are random by
//     themselves, so randomize changes nothing.
//   - "exact:4KiB:60,1MiB:30,64MiB:10": these sizes, by weight.
//   - "lognormal:median=64KiB,sigma=1,max=1GiB": a lognormal distribution, clipped at the maximum.
func ParseSizes(spec string, randomize bool) (Sizes, error) {
	kind, rest, ok := strings.Cut(spec, ":")
	kind = strings.TrimSpace(kind)
	if ok && randomize && (kind == exactKind || kind == lognormalKind) {
		return nil, fmt.Errorf("sizes %q are already random: leave out --obj.randsize", spec)
	}
	switch {
	case ok && kind == exactKind:
		return parseExact(spec, rest)
	case ok && kind == lognormalKind:
		return parseLognormal(spec, rest)
	case strings.Contains(spec, ":"):
		return parseBuckets(spec)
	case strings.Contains(spec, ","):
		return parseRange(spec, randomize)
	case strings.Contains(strings.TrimLeft(spec, " -"), "-"): // ParseSize rejects a leading sign
		return parseUniform(spec, randomize)
	}
	size, err := ParseSize(spec)
	switch {
	case err != nil:
		return nil, err
	case !randomize:
		return fixedSize(size), nil
	case size < 1:
		return nil, fmt.Errorf("size %q: random sizes need a maximum of at least 1 byte", spec)
	}
	return newLogSizes(size), nil
}

// Fixed returns sizes that are all the same.
func Fixed(size int64) Sizes { return fixedSize(size) }

type fixedSize int64

func (s fixedSize) Next(*Stream) int64 { return int64(s) }
func (s fixedSize) Min() int64         { return int64(s) }
func (s fixedSize) Max() int64         { return int64(s) }
func (s fixedSize) Mean() float64      { return float64(s) }
func (s fixedSize) String() string     { return FormatSize(int64(s)) }

func parseRange(spec string, randomize bool) (Sizes, error) {
	parts := strings.Split(spec, ",")
	if len(parts) != 2 {
		return nil, fmt.Errorf("sizes %q: want MIN,MAX, or buckets SIZE:WEIGHT,SIZE:WEIGHT,…", spec)
	}
	if !randomize {
		return nil, fmt.Errorf("sizes %q: a range MIN,MAX needs --obj.randsize", spec)
	}
	low, high, err := parseBounds(spec, parts[0], parts[1])
	switch {
	case err != nil:
		return nil, err
	case low < 1:
		return nil, fmt.Errorf("sizes %q: the minimum must be at least 1 byte", spec)
	}
	return rangeSizes{min: low, max: high}, nil
}

// parseBounds parses the smallest and the largest size of a specification.
func parseBounds(spec, from, to string) (low, high int64, err error) {
	if low, err = ParseSize(from); err != nil {
		return 0, 0, fmt.Errorf("minimum of sizes %q: %w", spec, err)
	}
	if high, err = ParseSize(to); err != nil {
		return 0, 0, fmt.Errorf("maximum of sizes %q: %w", spec, err)
	}
	if low > high {
		return 0, 0, fmt.Errorf("sizes %q: the minimum is larger than the maximum", spec)
	}
	return low, high, nil
}

func parseUniform(spec string, randomize bool) (Sizes, error) {
	if randomize {
		return nil, fmt.Errorf("sizes %q: MIN-MAX is already random, with equal chances; --obj.randsize wants MIN,MAX", spec)
	}
	from, to, _ := strings.Cut(spec, "-")
	low, high, err := parseBounds(spec, from, to)
	if err != nil {
		return nil, err
	}
	return uniformSizes{min: low, max: high}, nil
}

// A uniformSizes draws every size from min to max with the same probability.
type uniformSizes struct{ min, max int64 }

func (s uniformSizes) Next(r *Stream) int64 {
	return s.min + below(r, s.max-s.min+1) // the number of sizes may overflow, to the same bits
}

func (s uniformSizes) Min() int64     { return s.min }
func (s uniformSizes) Max() int64     { return s.max }
func (s uniformSizes) Mean() float64  { return (float64(s.min) + float64(s.max)) / 2 }
func (s uniformSizes) String() string { return FormatSize(s.min) + "-" + FormatSize(s.max) }

// A bucketSizes draws a bucket by weight, then uniformly from its sizes.
type bucketSizes struct {
	borders []int64
	weights
}

// weights are the sums of the weights of the items up to each.
type weights []int64

// total returns the weight of all items.
func (w weights) total() int64 {
	if len(w) == 0 {
		return 0
	}
	return w[len(w)-1]
}

// of returns the weight of item i.
func (w weights) of(i int) int64 { return w[i] - w[:i].total() }

// item returns the item at a number below the total.
func (w weights) item(at int64) int {
	i, _ := slices.BinarySearch(w, at+1)
	return i
}

func parseBuckets(spec string) (Sizes, error) {
	var b bucketSizes
	for item := range strings.SplitSeq(spec, ",") {
		if err := b.add(strings.TrimSpace(item)); err != nil {
			return nil, fmt.Errorf("size buckets %q: bucket %q: %w", spec, item, err)
		}
	}
	return b, nil
}

func (b *bucketSizes) add(item string) error {
	border, sum, err := parseWeighted(item, b.total())
	if err != nil {
		return err
	}
	if previous := b.Max(); border <= previous {
		return fmt.Errorf("the size must be larger than the one before (%d)", previous)
	}
	b.borders, b.weights = append(b.borders, border), append(b.weights, sum)
	return nil
}

// parseWeighted parses SIZE:WEIGHT, and adds the weight to sum.
func parseWeighted(item string, sum int64) (size, newSum int64, err error) {
	sizeText, weightText, ok := strings.Cut(item, ":")
	if !ok {
		return 0, 0, errors.New("want SIZE:WEIGHT")
	}
	if size, err = ParseSize(sizeText); err != nil {
		return 0, 0, err
	}
	weight, err := strconv.ParseInt(strings.TrimSpace(weightText), 10, 64)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("the weight %q is not a whole number, or is too large", weightText)
	case weight < 1:
		return 0, 0, errors.New("the weight must be at least 1")
	case sum+weight < sum:
		return 0, 0, errors.New("the sum of the weights is too large")
	}
	return size, sum + weight, nil
}

// bucket returns the sizes of bucket i, excluding the lowest.
func (b bucketSizes) bucket(i int) (above, border int64) {
	if i > 0 {
		above = b.borders[i-1]
	}
	return above, b.borders[i]
}

func (b bucketSizes) Next(r *Stream) int64 {
	above, border := b.bucket(b.item(below(r, b.total())))
	return above + 1 + below(r, border-above)
}

func (b bucketSizes) Min() int64 { return 1 }

func (b bucketSizes) Max() int64 {
	if len(b.borders) == 0 {
		return 0
	}
	return b.borders[len(b.borders)-1]
}

func (b bucketSizes) Mean() float64 {
	mean := 0.0
	for i := range b.borders {
		above, border := b.bucket(i)
		mean += (float64(above) + float64(border) + 1) / 2 * float64(b.of(i)) / float64(b.total())
	}
	return mean
}

func (b bucketSizes) String() string {
	items := make([]string, len(b.borders))
	for i, border := range b.borders {
		items[i] = fmt.Sprintf("%d:%d", border, b.of(i))
	}
	return strings.Join(items, ",")
}
