package stats

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"

	"warp/internal/wire"
)

const (
	buckets   = octaves * subs
	fewRecent = 512
)

// A Sparse is a small Histogram, so that there may be thousands. It has the same buckets, so its
// quantiles are the same, but no sums. It takes about two bytes for each non-empty bucket, and as
// much again for values that are not in their buckets yet. The zero value is an empty histogram.
type Sparse struct {
	extent
	filled []byte   // non-empty buckets, each as the distance from the one before and its count
	recent []uint16 // buckets of values that are not in filled yet
}

// Add counts one value, as Histogram does.
func (s *Sparse) Add(d time.Duration) {
	v := uint64(min(max(d, 0), MaxValue))
	s.extent.add(extent{1, v, v})
	page, sub := bucket(v)
	s.put(uint16(page*subs + sub))
}

func (s *Sparse) put(at uint16) {
	switch n := len(s.recent); {
	case n < cap(s.recent):
	case n == 0:
		s.recent = make([]uint16, 0, 16)
	case n >= fewRecent && 2*n >= len(s.filled):
		s.fold(nil)
	}
	s.recent = append(s.recent, at)
}

// merge adds the values of o. It does not change o.
func (s *Sparse) merge(o *Sparse) {
	if o.count == 0 {
		return
	}
	s.extent.add(o.extent)
	switch {
	case len(s.filled)+len(s.recent) == 0:
		s.filled, s.recent = slices.Clone(o.filled), slices.Clone(o.recent)
	case len(o.filled) == 0:
		for _, at := range o.recent {
			s.put(at)
		}
	default:
		s.fold(o)
	}
}

// A dense has a counter for each bucket, and a bit for each that is used.
type dense struct {
	n    [buckets]uint64
	used [buckets / 64]uint64
}

func (d *dense) add(at int, n uint64) {
	d.n[at] += n
	d.used[at/64] |= 1 << (at % 64)
}

func (d *dense) addAll(s *Sparse) {
	s.eachFilled(d.add)
	for _, at := range s.recent {
		d.add(int(at), 1)
	}
}

// each calls f for every non-empty bucket, the smallest values first.
func (d *dense) each(f func(at int, n uint64)) {
	for word, set := range &d.used {
		for ; set != 0; set &= set - 1 {
			at := word*64 + bits.TrailingZeros64(set)
			f(at, d.n[at])
		}
	}
}

// fold moves recent values to their buckets, and adds o's values unless o is nil.
func (s *Sparse) fold(o *Sparse) {
	var d dense
	d.addAll(s)
	if o != nil {
		d.addAll(o)
	}
	s.recent = s.recent[:0]
	s.filled = d.append(s.filled[:0])
}

func (d *dense) append(b []byte) []byte {
	last := -1
	d.each(func(at int, n uint64) {
		b = binary.AppendUvarint(b, uint64(at-last))
		b = binary.AppendUvarint(b, n)
		last = at
	})
	return b
}

// eachFilled calls f for the buckets in filled, the smallest values first.
func (s *Sparse) eachFilled(f func(at int, n uint64)) {
	at := -1
	for b := s.filled; len(b) > 0; {
		step, i := binary.Uvarint(b)
		n, k := binary.Uvarint(b[i:])
		b = b[i+k:]
		at += int(step)
		f(at, n)
	}
}

// Each calls f for every non-empty bucket, like [Histogram.Each].
func (s *Sparse) Each(f func(value time.Duration, n uint64)) {
	if len(s.recent) > 0 {
		s.fold(nil)
	}
	s.eachFilled(func(at int, n uint64) {
		f(s.middle(at/subs, at%subs), n)
	})
}

// Quantiles returns the quantiles for shares in ascending order. A [Histogram] of the same values
// returns the same quantiles.
func (s *Sparse) Quantiles(shares ...float64) []time.Duration {
	all := make([]time.Duration, len(shares))
	var below uint64
	next := 0
	s.Each(func(value time.Duration, n uint64) {
		for below += n; next < len(shares) && rankOf(shares[next], s.count) <= below; next++ {
			all[next] = value
		}
	})
	for i, q := range shares {
		switch rank := rankOf(q, s.count); {
		case s.count == 0:
		case rank == 1:
			all[i] = s.Min()
		case rank >= s.count:
			all[i] = s.Max()
		}
	}
	return all
}

// MarshalJSON encodes the binary form, which is short.
func (s *Sparse) MarshalJSON() ([]byte, error) {
	var d dense
	d.addAll(s)
	b := binary.AppendUvarint(binary.AppendUvarint(nil, s.min), s.max)
	return json.Marshal(d.append(b))
}

var errSparse = errors.New("a histogram of a segment cannot be read")

// UnmarshalJSON decodes the form of MarshalJSON.
func (s *Sparse) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	r := wire.NewReader(b)
	*s = Sparse{extent: extent{min: r.Uint(), max: r.Uint()}}
	begin := len(b) - r.Left()
	for at := -1; !r.Bad && r.Left() > 0; {
		step, n := r.Uint(), r.Uint()
		if r.Bad || step == 0 || step > buckets || n == 0 || n > math.MaxUint64-s.count {
			return errSparse
		}
		if at += int(step); at >= buckets {
			return errSparse
		}
		s.count += n
	}
	if r.Bad || s.min > s.max || s.max > MaxValue {
		return errSparse
	}
	s.filled = b[begin:]
	return nil
}
