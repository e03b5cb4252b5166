//go:build !linux

package conformance

import "os"

// maxRSS is known only on Linux; elsewhere the unit differs, or there is none.
func maxRSS(*os.ProcessState) int64 { return 0 }
