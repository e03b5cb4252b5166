package reports

import (
	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
)

// A CSVFlag is --csv: runs for spreadsheets instead of the text for people.
type CSVFlag struct{ Wanted bool }

// Flag returns the flag.
func (f *CSVFlag) Flag() cli.Flag {
	return &cli.BoolFlag{Name: "csv", Destination: &f.Wanted, Usage: "print CSV for spreadsheets, a line for each operation and run"}
}

// Check refuses two documents on standard output.
func (f *CSVFlag) Check(inv *command.Invocation) error {
	if f.Wanted && inv.JSON {
		return exit.Usagef("--csv and --json cannot be combined: both write to standard output")
	}
	return nil
}
