package generator

import "strings"

// SizesText contains Sizes that can be decoded from text, as MarshalText of all Sizes encodes it.
type SizesText struct{ Sizes }

// random marks the text of sizes that ParseSizes parses with randomize.
const random = "random "

// MarshalText encodes sizes for UnmarshalText.
func (s fixedSize) MarshalText() ([]byte, error)      { return []byte(s.String()), nil }
func (s logSizes) MarshalText() ([]byte, error)       { return []byte(random + s.String()), nil }
func (s rangeSizes) MarshalText() ([]byte, error)     { return []byte(random + s.String()), nil }
func (s uniformSizes) MarshalText() ([]byte, error)   { return []byte(s.String()), nil }
func (b bucketSizes) MarshalText() ([]byte, error)    { return []byte(b.String()), nil }
func (s exactSizes) MarshalText() ([]byte, error)     { return []byte(s.String()), nil }
func (s lognormalSizes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText decodes sizes.
func (s *SizesText) UnmarshalText(text []byte) (err error) {
	spec, randomize := strings.CutPrefix(string(text), random)
	s.Sizes, err = ParseSizes(spec, randomize)
	return err
}
