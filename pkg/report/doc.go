// Package report renders what [warp/pkg/aggregate] has computed: as text for
// people, as JSON, and as CSV. It computes no figure of its own.
package report
