package stats

import "slices"

// JoinEnds returns the parts of a window with the first and the last one joined
// to their neighbours if they are shorter than half of the length. A part at an
// end that is longer is a part like any other, so that nothing at the end of a
// run is left out.
func JoinEnds[T any](parts []T, length float64, lengthOf func(*T) float64, join func(a, b *T) T) []T {
	parts = slices.Clone(parts)
	short := func(p *T) bool { return 2*lengthOf(p) < length*(1-1e-9) }
	if n := len(parts); n > 1 && short(&parts[n-1]) {
		parts[n-2] = join(&parts[n-2], &parts[n-1])
		parts = parts[:n-1]
	}
	if len(parts) > 1 && short(&parts[0]) {
		parts[1] = join(&parts[0], &parts[1])
		parts = parts[1:]
	}
	return parts
}
