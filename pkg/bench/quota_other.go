//go:build !linux

package bench

func cpuQuota(string) float64 { return 0 } // there is none
