// Package marks counts a run between its marks: what was done to the store, and
// how long it took until the throughput was back.
package marks
