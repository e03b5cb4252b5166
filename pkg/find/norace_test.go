//go:build !race

package find

const searches = 10
