package benchmarks

import (
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
)

// arrivals are the values of --arrival.
const (
	evenArrivals    = "even"
	poissonArrivals = "poisson"
)

// shapeFlags say how the requests of an open loop are spread over time.
type shapeFlags struct {
	arrival     string
	arrivalFlag *flagtype.Choice
}

func (s *shapeFlags) flags() []cli.Flag {
	s.arrivalFlag = &flagtype.Choice{Name: "arrival", Value: evenArrivals, Config: flagtype.Choices{evenArrivals, poissonArrivals}, Destination: &s.arrival,
		Usage: "with --rps-limit: `WHEN` requests are due: even (at equal intervals) or poisson (at random, as from many users)"}
	return []cli.Flag{s.arrivalFlag}
}

// check returns an error if the flags are given without an open loop.
func (s *shapeFlags) check(rate float64) error {
	if rate == 0 && s.arrivalFlag.IsSet() {
		return exit.Usagef("--arrival=%s needs a rate", s.arrival).WithHint("add --rps-limit=N")
	}
	return nil
}

// pickFlag chooses objects of a pool.
type pickFlag = cli.FlagBase[float64, cli.NoConfig, pickValue]

func (p *poolFlags) pickFlag() cli.Flag {
	return &pickFlag{Name: "pick", Destination: &p.zipf,
		Usage: "choose objects to read by popularity `KIND`: uniform (all alike) or zipf:EXPONENT, such as zipf:0.99"}
}

// maxZipf limits the exponent. At 20, a request in a million is not for the most popular object.
const maxZipf = 20

// uniformPick is the value of --pick that makes all objects alike.
const uniformPick = "uniform"

// pickValue parses the value of a pickFlag: the exponent of a Zipf distribution, 0 if all objects are alike.
type pickValue struct{ p *float64 }

func (pickValue) Create(v float64, p *float64, _ cli.NoConfig) cli.Value {
	*p = v
	return pickValue{p}
}

func (v pickValue) Set(s string) error {
	text, zipf := strings.CutPrefix(strings.ToLower(s), "zipf:")
	exponent, err := strconv.ParseFloat(text, 64)
	switch {
	case strings.EqualFold(s, uniformPick):
		exponent = 0
	case !zipf:
		return flagtype.Wrong("%q is neither uniform nor zipf:EXPONENT", s)
	case err != nil || math.IsNaN(exponent) || exponent < 0 || exponent > maxZipf:
		return flagtype.Wrong("%q: the exponent must be a number from 0 to %d", s, maxZipf)
	}
	*v.p = exponent
	return nil
}

func (v pickValue) Get() any       { return v.String() }
func (v pickValue) String() string { return v.ToString(*v.p) }
func (pickValue) ToString(exponent float64) string {
	if exponent == 0 {
		return uniformPick
	}
	return "zipf:" + strconv.FormatFloat(exponent, 'g', -1, 64)
}
