package aggregate

import "time"

// Options say what part of a log is analysed, and how finely.
//
// Op and Host restrict what is reported, not what the windows are: an
// operation of a mixed run has the same figures with and without the filter,
// because windows and groups always come from all rows.
type Options struct {
	SegmentDur time.Duration // length of segments; 0 = 1s, or longer so that there are at most 400
	Op         string        // only this operation, in upper or lower case; "" = all
	Host       string        // only this host, with or without scheme; "" = all
	Skip       time.Duration // begin every window that much later
	Verbose    bool          // also first and last access per object (memory for each object) and size classes
	Limit      int64         // take at most that many rows; 0 = all
	Offset     int64         // leave out that many rows before; windows follow from the rows taken

	// Slices are the lengths of pieces of the window that assertions look at; 0 is one that takes its length by itself.
	Slices []time.Duration
}
