package generator

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// adviseHuge returns the part of b that begins at a huge page, and asks the kernel to use huge
// pages for it. Nothing depends on whether it does.
func adviseHuge(b []byte) []byte {
	b = b[-uintptr(unsafe.Pointer(&b[0]))%hugePage:]
	b = b[:len(b)/hugePage*hugePage]
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	return b
}
