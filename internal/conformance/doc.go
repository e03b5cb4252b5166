// Package conformance holds warp as a whole against every store: whole command lines, in process where that
// will do, and what they say compared with what a proxy before the store has seen.
//
// It holds tests only. What measures time or memory is called TestMeasured… and skips itself under the race
// detector.
package conformance
