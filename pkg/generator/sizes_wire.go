package generator

import (
	"errors"
	"strings"
)

// SizesText is Sizes that can be read from text, as the MarshalText of all
// Sizes writes it.
type SizesText struct{ Sizes }

// random marks the text of sizes that ParseSizes reads with randomize.
const random = "random "

// MarshalText writes what UnmarshalText reads.
func (s fixedSize) MarshalText() ([]byte, error)   { return []byte(s.String()), nil }
func (s logSizes) MarshalText() ([]byte, error)    { return []byte(random + s.String()), nil }
func (s rangeSizes) MarshalText() ([]byte, error)  { return []byte(random + s.String()), nil }
func (b bucketSizes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// MarshalText writes the sizes that were read.
func (s *SizesText) MarshalText() ([]byte, error) {
	m, ok := s.Sizes.(interface{ MarshalText() ([]byte, error) })
	if !ok {
		return nil, errors.New("these sizes have no text")
	}
	return m.MarshalText()
}

// UnmarshalText reads sizes.
func (s *SizesText) UnmarshalText(text []byte) (err error) {
	spec, randomize := strings.CutPrefix(string(text), random)
	s.Sizes, err = ParseSizes(spec, randomize)
	return err
}
