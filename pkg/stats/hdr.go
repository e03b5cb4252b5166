package stats

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// hdr converts the histogram to one of HdrHistogram, in ns. With two significant digits that has
// the same buckets, so only sums and the exact extremes are lost.
func (h *Histogram) hdr() *hdr.Histogram { return newHDR(h.Each) }

// HDR converts the histogram to one of HdrHistogram, as [Histogram.EncodeHDR] does.
func (s *Sparse) HDR() *hdr.Histogram { return newHDR(s.Each) }

func newHDR(each func(func(value time.Duration, n uint64))) *hdr.Histogram {
	to := hdr.New(1, MaxValue, 2)
	each(func(value time.Duration, n uint64) {
		_ = to.RecordValues(int64(value), int64(n)) // it has a bucket for every value
	})
	return to
}

// EncodeHDR encodes the histogram in HdrHistogram's V2 compressed form, in base64. It returns "" if
// there are no values.
func (h *Histogram) EncodeHDR() string {
	if h.count == 0 {
		return ""
	}
	b, err := h.hdr().Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return "" // only an unknown version of the encoding is an error
	}
	return string(b)
}
