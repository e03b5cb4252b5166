// Package report renders the results of [warp/pkg/aggregate] as text for people, and as
// CSV. It computes no figures.
package report
