// Package report renders the results of [warp/pkg/aggregate] as text for people, as JSON, and as
// CSV. It computes no figures.
package report
