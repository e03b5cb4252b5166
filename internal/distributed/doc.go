// Package distributed holds the tests of runs on several machines: processes of their own, where possible each on a
// host of its own (a network namespace), whose links are taken down and slowed, and which are killed. What the store
// has seen is held against the rows of the final log.
package distributed
