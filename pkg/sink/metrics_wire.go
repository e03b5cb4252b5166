package sink

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"unicode/utf8"

	"warp/internal/wire"
)

// maxUnpacked limits the size of counts before compression. It is more than the other limits allow.
const maxUnpacked = 8 << 20

// Append encodes the counts, compressed, for ReadCounts on another machine.
func (c *Counts) Append(b []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(c.plain()); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func (c *Counts) plain() []byte {
	b := binary.AppendUvarint(nil, uint64(len(c.series)))
	for i := range c.series {
		s := &c.series[i]
		b = wire.AppendText(wire.AppendText(b, s.op), s.endpoint)
		b = s.wire.append(s.ttfb.append(s.duration.append(s.Counter.Append(b))))
	}
	b = binary.AppendUvarint(b, uint64(len(c.failures)))
	for _, f := range c.failures {
		b = wire.AppendText(wire.AppendText(wire.AppendText(b, f.op), f.endpoint), f.code)
		b = binary.AppendUvarint(b, f.requests)
	}
	b = binary.AppendUvarint(b, uint64(len(c.inFlight)))
	for _, f := range c.inFlight {
		b = binary.AppendUvarint(wire.AppendText(b, f.op), f.requests)
	}
	return b
}

func (h *histogram) append(b []byte) []byte {
	for _, n := range h {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// errCounts reports data that Append has not written.
var errCounts = errors.New("the metrics of a client cannot be read")

// ReadCounts decodes the form of Append. Whatever the input, the result stays within the limits and
// is valid for Prometheus.
func ReadCounts(b []byte) (*Counts, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), maxUnpacked+1))
	if err != nil || len(plain) > maxUnpacked {
		return nil, errCounts
	}
	r := &countsReader{wire.NewReader(plain)}
	c := &Counts{}
	// What exceeds the limits is counted under another name: one more series, and one more code for
	// each.
	for range r.Length(maxSeries + 1) {
		c.series = append(c.series, r.series())
	}
	for range r.Length(maxFailures + maxSeries + 1) {
		c.failures = append(c.failures, failure{failing{place{r.label(), r.label()}, r.label()}, r.Uint()})
	}
	for range r.Length(maxSeries) {
		c.inFlight = append(c.inFlight, flight{r.label(), r.Uint()})
	}
	if r.Bad || r.Left() > 0 || c.ambiguous() {
		return nil, errCounts
	}
	return c, nil
}

// ambiguous reports whether anything occurs twice. Prometheus would then reject the metrics of all
// clients.
func (c *Counts) ambiguous() bool {
	return repeats(c.series, func(s *series) place { return s.place }) ||
		repeats(c.failures, func(f *failure) failing { return f.failing }) ||
		repeats(c.inFlight, func(f *flight) string { return f.op })
}

// repeats reports whether a key occurs twice.
func repeats[T any, K comparable](all []T, key func(*T) K) bool {
	seen := make(map[K]bool, len(all))
	for i := range all {
		seen[key(&all[i])] = true
	}
	return len(seen) < len(all)
}

// A countsReader decodes counts.
type countsReader struct{ wire.Reader }

func (r *countsReader) label() string {
	s := r.Text(maxLabel)
	r.Bad = r.Bad || !utf8.ValidString(s)
	return s
}

func (r *countsReader) series() series {
	s := series{place: place{r.label(), r.label()}}
	s.Counter.Read(&r.Reader)
	r.histogram(&s.duration)
	r.histogram(&s.ttfb)
	r.histogram(&s.wire)
	return s
}

func (r *countsReader) histogram(h *histogram) {
	total := uint64(0)
	for i := range h {
		h[i] = r.Uint()
		r.Bad = r.Bad || h[i] > math.MaxUint64-total
		total += h[i]
	}
}
