package aggregate

import "time"

// Options select the part of a log to analyse, and the resolution.
//
// Op and Host filter the report, not the windows: windows and groups always
// come from all rows, so an operation of a mixed run has the same figures with
// and without the filter.
type Options struct {
	SegmentDur time.Duration // length of segments; 0 = 1s, or longer so that there are at most 400
	Op         string        // report only this operation, in upper or lower case; "" = all
	Host       string        // report only this host, with or without scheme; "" = all
	Skip       time.Duration // begin each window this much later
	Verbose    bool          // add first and last access per object (memory for each object) and size classes
	Limit      int64         // read at most this many rows; 0 = all
	Offset     int64         // skip this many rows; windows follow from the rows read

	// Cache adds which share of the downloads a cache of that many bytes could have served; 0 = does not. It takes another pass.
	Cache int64

	// Slices are the lengths of window slices that assertions need; 0 = chosen
	// automatically.
	Slices []time.Duration
}
