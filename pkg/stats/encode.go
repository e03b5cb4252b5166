package stats

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"

	"warp/internal/wire"
)

// HistogramPages is the max number of pages in a histogram.
const HistogramPages = octaves

// MarshalJSON encodes the binary form, which is short.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	if h.count == 0 {
		return []byte(`""`), nil
	}
	return json.Marshal(h.Append(nil))
}

// UnmarshalJSON decodes the form of MarshalJSON.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil || len(b) == 0 {
		*h = Histogram{}
		return err
	}
	r, pages := wire.NewReader(b), octaves
	*h = Histogram{}
	h.Read(&r, &pages)
	if r.Bad || r.Left() > 0 {
		return errors.New("a histogram cannot be read")
	}
	return nil
}

// Append encodes the histogram: its sums, then the non-empty buckets, each as the distance from the
// one before and its count.
func (h *Histogram) Append(b []byte) []byte {
	for _, n := range [...]uint64{h.count, h.min, h.max, h.sum.Hi, h.sum.Lo, h.squares.Hi, h.squares.Lo} {
		b = binary.AppendUvarint(b, n)
	}
	used := 0
	for _, p := range &h.pages {
		if p != nil {
			used += subs - countZero(p)
		}
	}
	b = binary.AppendUvarint(b, uint64(used))
	last := -1
	for page, p := range &h.pages {
		if p == nil {
			continue
		}
		for sub, n := range p {
			if n > 0 {
				at := page*subs + sub
				b = binary.AppendUvarint(b, uint64(at-last))
				b = binary.AppendUvarint(b, n)
				last = at
			}
		}
	}
	return b
}

func countZero(p *[subs]uint64) (n int) {
	for _, v := range p {
		if v == 0 {
			n++
		}
	}
	return n
}

// Read decodes the form of Append. The result takes much more memory than the encoded bytes: 1 KiB
// for each page. pages limits and counts the pages. r.Bad reports invalid data.
func (h *Histogram) Read(r *wire.Reader, pages *int) {
	for _, p := range [...]*uint64{&h.count, &h.min, &h.max, &h.sum.Hi, &h.sum.Lo, &h.squares.Hi, &h.squares.Lo} {
		*p = r.Uint()
	}
	used := r.Uint()
	at, total := -1, uint64(0)
	for range used {
		step, n := r.Uint(), r.Uint()
		if r.Bad || step == 0 || step > octaves*subs || n > math.MaxUint64-total {
			r.Bad = true
			return
		}
		at += int(step)
		total += n
		if at >= octaves*subs {
			r.Bad = true
			return
		}
		page := h.pages[at/subs]
		if page == nil {
			if *pages--; *pages < 0 {
				r.Bad = true
				return
			}
			page = new([subs]uint64)
			h.pages[at/subs] = page
		}
		page[at%subs] = n
	}
	// A count that differs from the sum of the buckets would make quantiles wrong.
	r.Bad = r.Bad || total != h.count || h.min > h.max || h.max > MaxValue
}
