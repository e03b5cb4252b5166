// Package flagtype has the types of command line flags that urfave/cli lacks:
// sizes, durations, choices, limits and lists.
package flagtype

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/generator"
)

// Flag types that urfave/cli lacks. Their values are plain Go types, so that a
// command's struct holds numbers and not flags.
type (
	Size     = cli.FlagBase[int64, cli.NoConfig, sizeValue]             // 10MiB
	Duration = cli.FlagBase[time.Duration, cli.NoConfig, lengthValue]   // 5m
	Choice   = cli.FlagBase[string, Choices, choiceValue]               // one of Config
	Limit    = cli.FlagBase[bench.ErrorLimit, cli.NoConfig, limitValue] // 100 or 5%
	Question = cli.FlagBase[Asked, cli.NoConfig, askedValue]            // a switch, or all
	List     = cli.FlagBase[[]string, cli.NoConfig, listValue]          // one value each time it is given
)

// wrongValue is an error about the value of a flag, which its message quotes.
type wrongValue struct{ error }

// Wrong returns an error about the value of a flag. Its message must quote the value.
func Wrong(format string, args ...any) error { return wrongValue{fmt.Errorf(format, args...)} }

// IsWrong reports whether err is from Wrong.
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
	return Wrong("%q is not one of %s", s, strings.Join(v.of, ", "))
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
		*v.p = bench.ErrorLimit{Set: true, IsPct: f > 0, Percent: f} // 0% allows no errors, whatever the number of requests
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

// Asked is how much output a flag asks for: none, the usual ("true"), or all of it.
type Asked string

// AskedAll asks for everything.
const AskedAll Asked = "all"

// askedValue parses the value of a Question.
type askedValue struct{ p *Asked }

func (askedValue) Create(v Asked, p *Asked, _ cli.NoConfig) cli.Value {
	*p = v
	return askedValue{p}
}

func (v askedValue) Set(s string) error {
	if Asked(s) == AskedAll {
		*v.p = AskedAll
		return nil
	}
	yes, err := strconv.ParseBool(s)
	if err != nil {
		return Wrong("%q is neither true, false nor all", s)
	}
	*v.p = ""
	if yes {
		*v.p = "true"
	}
	return nil
}

// IsBoolFlag says that the flag needs no value.
func (askedValue) IsBoolFlag() bool        { return true }
func (v askedValue) Get() any              { return *v.p }
func (v askedValue) String() string        { return askedValue{}.ToString(*v.p) }
func (askedValue) ToString(a Asked) string { return string(cmp.Or(a, "false")) }

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

// ParseSize parses a size as [generator.ParseSize] does.
func ParseSize(s string) (int64, error) {
	n, err := generator.ParseSize(s)
	if err != nil {
		return 0, Wrong("%q is not a size; write it like 4096, 512KiB, 10MiB or 1GB", s)
	}
	return n, nil
}

// FormatSize formats a size as [generator.FormatSize] does, but plain bytes without a unit.
func FormatSize(n int64) string {
	text := generator.FormatSize(n)
	if bytes := strconv.FormatInt(n, 10); text == bytes+"B" {
		return bytes
	}
	return text
}

// AtLeast returns a validator of numbers that are not less than min.
func AtLeast(min int) func(int) error {
	return func(n int) error {
		if n < min {
			return Wrong("%d is less than %d", n, min)
		}
		return nil
	}
}

// Between returns a validator of numbers from min to max.
func Between[N int | float64](min, max N) func(N) error {
	return func(n N) error {
		if !(n >= min && n <= max) { // also if it is no number
			return Wrong("%v is not between %v and %v", n, min, max)
		}
		return nil
	}
}

// Takes returns a validator of times that are not shorter than min.
func Takes(min time.Duration) func(time.Duration) error {
	return func(d time.Duration) error {
		if d < min {
			return Wrong("%s is too short; the minimum is %s", human.Duration(d), human.Duration(min))
		}
		return nil
	}
}
