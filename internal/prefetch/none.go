//go:build !amd64 && !arm64

// Package prefetch asks the processor for memory that will be read soon. On this one it does nothing.
package prefetch

// Row does nothing.
func Row(*byte) {}

// Line does nothing.
func Line(*byte) {}
