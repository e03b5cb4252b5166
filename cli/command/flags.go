package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
	"warp/cli/terminal/console"
	"warp/internal/human"
)

// Value returns the effective value of a flag as text.
func Value(f cli.Flag) string {
	switch v := f.Get().(type) {
	case nil:
		return ""
	case time.Duration:
		return human.Duration(v)
	case int64:
		if _, ok := f.(*flagtype.Size); ok {
			return flagtype.FormatSize(v)
		}
		return strconv.FormatInt(v, 10)
	case []string:
		return strings.Join(v, ",")
	default:
		return fmt.Sprint(v)
	}
}

// Variables returns the environment variables that may set the flag.
func Variables(f cli.Flag) []string {
	if d, ok := f.(cli.DocGenerationFlag); ok {
		return d.GetEnvVars()
	}
	return nil
}

// usageOf returns the help text of a flag and the word for its value, which
// the text has in backquotes.
func usageOf(f cli.Flag) (text, value string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	text = d.GetUsage()
	if isBool(f) {
		return text, ""
	}
	if before, rest, ok := strings.Cut(text, "`"); ok {
		if value, after, ok := strings.Cut(rest, "`"); ok {
			return before + value + after, value
		}
	}
	switch f.(type) {
	case *flagtype.Size:
		return text, "SIZE"
	case *flagtype.Duration:
		return text, "DURATION"
	case *flagtype.Limit:
		return text, "N|N%"
	case *cli.StringFlag, *flagtype.Choice, *flagtype.List:
		return text, "VALUE"
	default:
		return text, "N"
	}
}

// isBool reports whether f is a switch, which has a value only after "=".
func isBool(f cli.Flag) bool {
	switch f.(type) {
	case *cli.BoolFlag, *flagtype.Question:
		return true
	}
	return false
}

// placeholder returns the word for a flag's value.
func placeholder(f cli.Flag) string {
	_, value := usageOf(f)
	return value
}

// Titles of flag groups that several commands have. All commands have OutputTitle.
const (
	WorkloadTitle   = "Workload"
	RunTitle        = "Run"
	AnalysisTitle   = "Analysis"
	VerdictTitle    = "Verdict"
	FilesTitle      = "Files"
	AssertionsTitle = "Assertions"
	OutputTitle     = "Output"
)

// outputGroup returns the flags that set o.
func outputGroup(o *console.Options) Group {
	return Group{Title: OutputTitle, Flags: []cli.Flag{
		&cli.BoolFlag{Name: "json", Destination: &o.JSON,
			Usage: "print one JSON document on standard output; everything else goes to standard error"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Destination: &o.Quiet,
			Usage: "print no progress and no notes"},
		&cli.BoolFlag{Name: "no-color", Destination: &o.NoColor,
			Usage: "print no colors, like the environment variable NO_COLOR"},
		&cli.BoolFlag{Name: "debug", Destination: &o.Debug,
			Usage: "print debug output on standard error"},
	}}
}
