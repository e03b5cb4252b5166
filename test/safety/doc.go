// Package safety holds the tests of one promise: nobody loses data. They run the warp binary as a user would,
// against real stores with other people's objects in the bucket, kill it, freeze and break the store under it,
// and look at what is there afterwards.
package safety
