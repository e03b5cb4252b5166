// Package diff says what changed from the report of one run to the report of
// another. Whether the change is more than chance is the question of
// pkg/compare, which needs several runs.
package diff
