// Package conformance runs command lines against every store, and compares their results with the traffic that a
// proxy in front of the store has recorded.
//
// It holds tests only. What measures time or memory is called TestMeasured… and skips itself under the race
// detector.
package conformance
