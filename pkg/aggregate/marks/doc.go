// Package marks counts a run between its marks: the events that a user or a script
// records during a run, such as the failure of a node. It measures how long the
// throughput takes to recover after each.
package marks
