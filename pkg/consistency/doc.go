// Package consistency judges what a store promises, from the requests that its clients saw: their intervals, their
// outcomes, and the tokens that they wrote and read. It sends nothing.
//
// Every body names a token that no other request has, so an operation always shows which write it saw. [Judge] sorts the
// operations by property and key and applies the rules of each property:
//
//   - A version of an object has one successor at most: of all requests with the same condition, one takes effect.
//   - Histories without deletions are judged as registers, by the zones of Gibbons and Korach ("Testing Shared Memories",
//     1997), which is exact because all values are unique.
//   - Keys with one writer: a read returns the last acknowledged write, or a newer one.
//
// A write with unknown outcome may take effect at any later time, or never, but only once.
package consistency
