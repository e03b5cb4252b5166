package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
	"warp/pkg/bench"
)

// Titles of flag groups that more than one command has.
const (
	groupTarget   = "Target"
	groupWorkload = "Workload"
	groupTraffic  = "Traffic"
	groupRun      = "Run"
	groupAnalysis = "Analysis"
	groupFiles    = "Files"
	groupOutput   = "Output"
)

// Flag types besides those of urfave/cli. Their values are plain Go types, so
// a command's struct holds numbers and not flags.
type (
	sizeFlag     = cli.FlagBase[int64, cli.NoConfig, sizeValue]             // 10MiB
	durationFlag = cli.FlagBase[time.Duration, cli.NoConfig, lengthValue]   // 5m
	choiceFlag   = cli.FlagBase[string, choices, choiceValue]               // one of Config
	limitFlag    = cli.FlagBase[bench.ErrorLimit, cli.NoConfig, limitValue] // 100 or 5%
	listFlag     = cli.FlagBase[[]string, cli.NoConfig, listValue]          // one value each time it is given
)

// wrongValue is an error about a flag's value that quotes the value itself.
type wrongValue struct{ error }

func wrong(format string, args ...any) error { return wrongValue{fmt.Errorf(format, args...)} }

// sizeValue parses the value of a sizeFlag.
type sizeValue struct{ p *int64 }

func (sizeValue) Create(v int64, p *int64, _ cli.NoConfig) cli.Value {
	*p = v
	return sizeValue{p}
}

func (v sizeValue) Set(s string) (err error) {
	*v.p, err = parseSize(s)
	return err
}

func (v sizeValue) Get() any              { return *v.p }
func (v sizeValue) String() string        { return formatSize(*v.p) }
func (sizeValue) ToString(n int64) string { return formatSize(n) }

// lengthValue parses the value of a durationFlag, which is never negative.
type lengthValue struct{ p *time.Duration }

func (lengthValue) Create(v time.Duration, p *time.Duration, _ cli.NoConfig) cli.Value {
	*p = v
	return lengthValue{p}
}

func (v lengthValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return wrong("%q is not a duration; write it like 500ms, 30s, 5m or 1h30m", s)
	}
	if d < 0 {
		return wrong("%q is negative", s)
	}
	*v.p = d
	return nil
}

func (v lengthValue) Get() any                      { return *v.p }
func (v lengthValue) String() string                { return human.Duration(*v.p) }
func (lengthValue) ToString(d time.Duration) string { return human.Duration(d) }

// choices are the values that a choiceFlag accepts.
type choices []string

// choiceValue accepts one of a few words.
type choiceValue struct {
	p  *string
	of choices
}

func (choiceValue) Create(v string, p *string, of choices) cli.Value {
	*p = v
	return choiceValue{p, of}
}

func (v choiceValue) Set(s string) error {
	for _, c := range v.of {
		if strings.EqualFold(c, s) {
			*v.p = c
			return nil
		}
	}
	return wrong("%q is none of %s", s, strings.Join(v.of, ", "))
}

func (v choiceValue) Get() any               { return *v.p }
func (v choiceValue) String() string         { return *v.p }
func (choiceValue) ToString(s string) string { return s }

// limitValue parses the value of a limitFlag.
type limitValue struct{ p *bench.ErrorLimit }

func (limitValue) Create(v bench.ErrorLimit, p *bench.ErrorLimit, _ cli.NoConfig) cli.Value {
	*p = v
	return limitValue{p}
}

func (v limitValue) Set(s string) error {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		f, err := strconv.ParseFloat(share, 64)
		if err != nil || !(f >= 0 && f <= 100) {
			return wrong("%q is not a share from 0%% to 100%%", s)
		}
		*v.p = bench.ErrorLimit{Set: true, IsPct: f > 0, Percent: f} // no share at all is none of any number
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return wrong("%q is neither a number like 100 nor a share like 5%%", s)
	}
	*v.p = bench.ErrorLimit{Set: true, Count: n}
	return nil
}

func (v limitValue) Get() any                         { return *v.p }
func (v limitValue) String() string                   { return v.p.String() }
func (limitValue) ToString(l bench.ErrorLimit) string { return l.String() }

// listValue collects the values of a listFlag.
type listValue struct{ p *[]string }

func (listValue) Create(v []string, p *[]string, _ cli.NoConfig) cli.Value {
	*p = slices.Clone(v)
	return listValue{p}
}

func (v listValue) Set(s string) error {
	*v.p = append(*v.p, s)
	return nil
}

func (v listValue) Get() any                 { return *v.p }
func (v listValue) String() string           { return strings.Join(*v.p, ",") }
func (listValue) ToString(s []string) string { return strings.Join(s, ",") }

// unit is a suffix of a size.
type unit struct {
	suffix string
	bytes  int64
}

// sizeUnits are the suffixes, longest and largest first.
func sizeUnits() []unit {
	return []unit{
		{"TIB", 1 << 40}, {"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3},
		{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}, {"B", 1},
	}
}

// parseSize reads plain bytes, or a number with K, KB, KiB and so on.
func parseSize(s string) (int64, error) {
	number, factor := strings.ToUpper(strings.TrimSpace(s)), int64(1)
	for _, u := range sizeUnits() {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, factor = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err == nil && n >= 0 && n <= math.MaxInt64/factor {
		return n * factor, nil
	}
	// ParseFloat also reads Inf, NaN, 1e3 and 0x1p2, which nobody means here.
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" || f*float64(factor) >= math.MaxInt64 {
		return 0, wrong("%q is not a size; write it like 4096, 512KiB, 10MiB or 1GB", s)
	}
	return int64(math.Round(f * float64(factor))), nil
}

// formatSize writes n so that parseSize reads the same number again.
func formatSize(n int64) string {
	units := sizeUnits()
	for _, u := range slices.Concat(units[:4:4], units[4:8]) {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + strings.Replace(u.suffix, "IB", "iB", 1)
		}
	}
	return strconv.FormatInt(n, 10)
}

// flagValue is the effective value of a flag as text.
func flagValue(f cli.Flag) string {
	switch v := f.Get().(type) {
	case nil:
		return ""
	case time.Duration:
		return human.Duration(v)
	case int64:
		if _, ok := f.(*sizeFlag); ok {
			return formatSize(v)
		}
		return strconv.FormatInt(v, 10)
	case []string:
		return strings.Join(v, ",")
	default:
		return fmt.Sprint(v)
	}
}

// valueError words what a flag has against its value. where is the flag, or
// the environment variable that stands in for it.
func valueError(where string, f cli.Flag, value string, err error) error {
	if isSecretFlag(f.Names()[0]) {
		return usageError("%s: the value is not valid", where)
	}
	if w := (wrongValue{}); errors.As(err, &w) {
		return usageError("%s: %w", where, err)
	}
	switch f.Get().(type) {
	case bool:
		return usageError("%s: %q is neither true nor false", where, value)
	case int, int64:
		return usageError("%s: %q is not a whole number", where, value)
	case uint, uint64:
		return usageError("%s: %q is not a whole number from 0 up", where, value)
	case float64:
		return usageError("%s: %q is not a number", where, value)
	default:
		return usageError("%s: %q: %w", where, value, err)
	}
}

// variablesOf are the environment variables that may set the flag.
func variablesOf(f cli.Flag) []string {
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
	case *sizeFlag:
		return text, "SIZE"
	case *durationFlag:
		return text, "DURATION"
	case *limitFlag:
		return text, "N|N%"
	case *cli.StringFlag, *choiceFlag, *listFlag:
		return text, "VALUE"
	default:
		return text, "N"
	}
}

// placeholder is the word for a flag's value.
func placeholder(f cli.Flag) string {
	_, value := usageOf(f)
	return value
}

// An outputFlags is how a command shows what it has to say. Every command has
// these flags; the console is made from them.
type outputFlags struct {
	quiet, noColor, json, debug bool
}

func (o *outputFlags) group() flagGroup {
	return flagGroup{title: groupOutput, flags: []cli.Flag{
		&cli.BoolFlag{Name: "json", Destination: &o.json,
			Usage: "one JSON document on standard output, everything else on standard error"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Destination: &o.quiet,
			Usage: "no progress and no notes"},
		&cli.BoolFlag{Name: "no-color", Destination: &o.noColor,
			Usage: "no colors, as with the environment variable NO_COLOR"},
		&cli.BoolFlag{Name: "debug", Destination: &o.debug,
			Usage: "say on standard error what warp does"},
	}}
}
