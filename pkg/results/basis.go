package results

// A Basis says how a window was chosen.
type Basis string

const (
	// Measured is a window that the run itself chose.
	Measured Basis = "measured"
	// Derived is a window derived from the rows of a log without one.
	Derived Basis = "derived"
	// Whole is everything from the first request to the end of the last one. It is used for
	// preparation, statements of scripts, and runs that are too short.
	Whole Basis = "whole"
	// NoWindow means that there is no time to measure in.
	NoWindow Basis = "none"
	// Aggregated is a time that another program has chosen for its results.
	Aggregated Basis = "aggregated"
)
