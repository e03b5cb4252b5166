package session

import (
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
)

// ProgressFlags set how often a run without a terminal reports its progress.
type ProgressFlags struct {
	Interval time.Duration
	Output   string // file for the same lines
}

func (p *ProgressFlags) OutputFlag() cli.Flag {
	return &cli.StringFlag{Name: "stats-output", Destination: &p.Output, TakesFile: true, Hidden: true,
		Usage: "also write progress lines to a new `FILE`, even on a terminal and with --quiet"}
}

func (p *ProgressFlags) Flag() cli.Flag {
	return &flagtype.Duration{Name: "stats-interval", Value: 10 * time.Second, Destination: &p.Interval,
		Validator: flagtype.Takes(100 * time.Millisecond), Usage: "without a terminal: print a progress line every `DURATION`"}
}
