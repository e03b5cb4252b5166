package generator

import (
	"errors"
	"fmt"
	"math/bits"
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
	low, err := ParseSize(parts[0])
	if err != nil {
		return nil, fmt.Errorf("minimum of sizes %q: %w", spec, err)
	}
	high, err := ParseSize(parts[1])
	if err != nil {
		return nil, fmt.Errorf("maximum of sizes %q: %w", spec, err)
	}
	switch {
	case low > high:
		return nil, fmt.Errorf("sizes %q: the minimum is larger than the maximum", spec)
	case low < 1:
		return nil, fmt.Errorf("sizes %q: the minimum must be at least 1 byte", spec)
	}
	return rangeSizes{min: low, max: high}, nil
}

func parseUniform(spec string, randomize bool) (Sizes, error) {
	if randomize {
		return nil, fmt.Errorf("sizes %q: MIN-MAX is already random, with equal chances; --obj.randsize wants MIN,MAX", spec)
	}
	from, to, _ := strings.Cut(spec, "-")
	low, err := ParseSize(from)
	if err != nil {
		return nil, fmt.Errorf("minimum of sizes %q: %w", spec, err)
	}
	high, err := ParseSize(to)
	if err != nil {
		return nil, fmt.Errorf("maximum of sizes %q: %w", spec, err)
	}
	if low > high {
		return nil, fmt.Errorf("sizes %q: the minimum is larger than the maximum", spec)
	}
	return uniformSizes{min: low, max: high}, nil
}

// A uniformSizes draws every size from min to max with the same probability.
type uniformSizes struct{ min, max int64 }

func (s uniformSizes) Next(r *Stream) int64 {
	n := uint64(s.max-s.min) + 1 // number of sizes, which may exceed the range of int64
	hi, _ := bits.Mul64(r.Uint64(), n)
	return s.min + int64(hi)
}

func (s uniformSizes) Min() int64     { return s.min }
func (s uniformSizes) Max() int64     { return s.max }
func (s uniformSizes) Mean() float64  { return (float64(s.min) + float64(s.max)) / 2 }
func (s uniformSizes) String() string { return FormatSize(s.min) + "-" + FormatSize(s.max) }

// A bucketSizes draws a bucket by weight, then uniformly from its sizes.
type bucketSizes struct {
	borders []int64
	sums    []int64 // sums[i] is the weight of buckets 0 to i
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
	previous, sum := b.last()
	border, sum, err := parseWeighted(item, sum)
	if err != nil {
		return err
	}
	if border <= previous {
		return fmt.Errorf("the size must be larger than the one before (%d)", previous)
	}
	b.borders, b.sums = append(b.borders, border), append(b.sums, sum)
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

// last returns the highest border and the total weight so far.
func (b bucketSizes) last() (border, sum int64) {
	if len(b.borders) == 0 {
		return 0, 0
	}
	return b.borders[len(b.borders)-1], b.sums[len(b.sums)-1]
}

// bucket returns the sizes of bucket i, excluding the lowest, and its weight.
func (b bucketSizes) bucket(i int) (above, border, weight int64) {
	if i == 0 {
		return 0, b.borders[0], b.sums[0]
	}
	return b.borders[i-1], b.borders[i], b.sums[i] - b.sums[i-1]
}

func (b bucketSizes) Next(r *Stream) int64 {
	_, total := b.last()
	i, _ := slices.BinarySearch(b.sums, below(r, total)+1)
	above, border, _ := b.bucket(i)
	return above + 1 + below(r, border-above)
}

func (b bucketSizes) Min() int64 { return 1 }

func (b bucketSizes) Max() int64 {
	border, _ := b.last()
	return border
}

func (b bucketSizes) Mean() float64 {
	_, total := b.last()
	mean := 0.0
	for i := range b.borders {
		above, border, weight := b.bucket(i)
		mean += (float64(above) + float64(border) + 1) / 2 * float64(weight) / float64(total)
	}
	return mean
}

func (b bucketSizes) String() string {
	items := make([]string, len(b.borders))
	for i := range items {
		_, border, weight := b.bucket(i)
		items[i] = fmt.Sprintf("%d:%d", border, weight)
	}
	return strings.Join(items, ",")
}
