package results

// A Basis says what a window rests on.
type Basis string

const (
	// Measured is a window that the run itself has decided on.
	Measured Basis = "measured"
	// Derived is a window that follows from the rows, in a log that has none.
	Derived Basis = "derived"
	// Whole is everything from the first request to the end of the last one:
	// preparation, statements of scripts, and runs that are too short.
	Whole Basis = "whole"
	// NoWindow is the case where there is nothing to measure in.
	NoWindow Basis = "none"
	// Aggregated: another program has chosen the time that its results cover.
	Aggregated Basis = "aggregated"
)
