//go:build amd64 || arm64

// Package prefetch asks the processor for memory that will be read soon, so that it need not be waited for then.
// Go's own instruction for that is not for packages outside its runtime.
package prefetch

// Row asks for the 256 bytes from p on. They need not be there.
//
//go:noescape
func Row(p *byte)

// Line asks for the cache line of p.
//
//go:noescape
func Line(p *byte)
