package stats

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// hdr is the histogram as one of HdrHistogram, in ns. With two significant digits
// that has the same buckets, so nothing is lost but sums and the exact extremes.
func (h *Histogram) hdr() *hdr.Histogram { return newHDR(h.Each) }

// HDR is the histogram as one of HdrHistogram, like [Histogram.HDR].
func (s *Sparse) HDR() *hdr.Histogram { return newHDR(s.Each) }

func newHDR(each func(func(value time.Duration, n uint64))) *hdr.Histogram {
	to := hdr.New(1, MaxValue, 2)
	each(func(value time.Duration, n uint64) {
		_ = to.RecordValues(int64(value), int64(n)) // it has a bucket for every value
	})
	return to
}

// EncodeHDR writes the histogram as HdrHistogram does: its V2 compressed form, in
// base64. It is "" where there are no values.
func (h *Histogram) EncodeHDR() string {
	if h.count == 0 {
		return ""
	}
	b, err := h.hdr().Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return "" // only another version of the encoding would be refused
	}
	return string(b)
}
