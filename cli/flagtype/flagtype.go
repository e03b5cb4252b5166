// Package flagtype has the types of command line flags that urfave/cli lacks:
// sizes, durations, choices, limits and lists.
package flagtype

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

// Flag types that urfave/cli lacks. Their values are plain Go types, so that a
// command's struct holds numbers and not flags.
type (
	Size     = cli.FlagBase[int64, cli.NoConfig, sizeValue]             // 10MiB
	Duration = cli.FlagBase[time.Duration, cli.NoConfig, lengthValue]   // 5m
	Choice   = cli.FlagBase[string, Choices, choiceValue]               // one of Config
	Limit    = cli.FlagBase[bench.ErrorLimit, cli.NoConfig, limitValue] // 100 or 5%
	List     = cli.FlagBase[[]string, cli.NoConfig, listValue]          // one value each time it is given
)

// wrongValue is an error about a flag's value that quotes the value itself.
type wrongValue struct{ error }

// Wrong is an error about a flag's value that quotes the value itself.
func Wrong(format string, args ...any) error { return wrongValue{fmt.Errorf(format, args...)} }

// IsWrong reports whether the error is one of Wrong.
func IsWrong(err error) bool {
	var w wrongValue
	return errors.As(err, &w)
}

// sizeValue parses the value of a Size.
type sizeValue struct{ p *int64 }

func (sizeValue) Create(v int64, p *int64, _ cli.NoConfig) cli.Value {
	*p = v
	return sizeValue{p}
}

func (v sizeValue) Set(s string) (err error) {
	*v.p, err = ParseSize(s)
	return err
}

func (v sizeValue) Get() any              { return *v.p }
func (v sizeValue) String() string        { return FormatSize(*v.p) }
func (sizeValue) ToString(n int64) string { return FormatSize(n) }

// lengthValue parses the value of a Duration, which is never negative.
type lengthValue struct{ p *time.Duration }

func (lengthValue) Create(v time.Duration, p *time.Duration, _ cli.NoConfig) cli.Value {
	*p = v
	return lengthValue{p}
}

func (v lengthValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return Wrong("%q is not a duration; write it like 500ms, 30s, 5m or 1h30m", s)
	}
	if d < 0 {
		return Wrong("%q is negative", s)
	}
	*v.p = d
	return nil
}

func (v lengthValue) Get() any                      { return *v.p }
func (v lengthValue) String() string                { return human.Duration(*v.p) }
func (lengthValue) ToString(d time.Duration) string { return human.Duration(d) }

// Choices are the values that a Choice accepts.
type Choices []string

// choiceValue accepts one of a few words.
type choiceValue struct {
	p  *string
	of Choices
}

func (choiceValue) Create(v string, p *string, of Choices) cli.Value {
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
	return Wrong("%q is none of %s", s, strings.Join(v.of, ", "))
}

func (v choiceValue) Get() any               { return *v.p }
func (v choiceValue) String() string         { return *v.p }
func (choiceValue) ToString(s string) string { return s }

// limitValue parses the value of a Limit.
type limitValue struct{ p *bench.ErrorLimit }

func (limitValue) Create(v bench.ErrorLimit, p *bench.ErrorLimit, _ cli.NoConfig) cli.Value {
	*p = v
	return limitValue{p}
}

func (v limitValue) Set(s string) error {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		f, err := strconv.ParseFloat(share, 64)
		if err != nil || !(f >= 0 && f <= 100) {
			return Wrong("%q is not a share from 0%% to 100%%", s)
		}
		*v.p = bench.ErrorLimit{Set: true, IsPct: f > 0, Percent: f} // no share at all is none of any number
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return Wrong("%q is neither a number like 100 nor a share like 5%%", s)
	}
	*v.p = bench.ErrorLimit{Set: true, Count: n}
	return nil
}

func (v limitValue) Get() any                         { return *v.p }
func (v limitValue) String() string                   { return v.p.String() }
func (limitValue) ToString(l bench.ErrorLimit) string { return l.String() }

// listValue collects the values of a List.
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

// A Unit is a suffix of a size.
type Unit struct {
	Suffix string
	Bytes  int64
}

// Units are the suffixes, longest and largest first.
func Units() []Unit {
	return []Unit{
		{"TIB", 1 << 40}, {"GIB", 1 << 30}, {"MIB", 1 << 20}, {"KIB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3},
		{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}, {"B", 1},
	}
}

// ParseSize reads plain bytes, or a number with K, KB, KiB and so on.
func ParseSize(s string) (int64, error) {
	number, factor := strings.ToUpper(strings.TrimSpace(s)), int64(1)
	for _, u := range Units() {
		if n, ok := strings.CutSuffix(number, u.Suffix); ok {
			number, factor = strings.TrimSpace(n), u.Bytes
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
		return 0, Wrong("%q is not a size; write it like 4096, 512KiB, 10MiB or 1GB", s)
	}
	return int64(math.Round(f * float64(factor))), nil
}

// FormatSize writes n so that ParseSize reads the same number again.
func FormatSize(n int64) string {
	all := Units()
	for _, u := range slices.Concat(all[:4:4], all[4:8]) {
		if n != 0 && n%u.Bytes == 0 {
			return strconv.FormatInt(n/u.Bytes, 10) + strings.Replace(u.Suffix, "IB", "iB", 1)
		}
	}
	return strconv.FormatInt(n, 10)
}
