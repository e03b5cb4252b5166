//go:build !linux

package hostload

func cpuQuota(string) float64 { return 0 } // no limit
