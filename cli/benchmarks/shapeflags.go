package benchmarks

import (
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/pkg/bench/pacing"
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
	stagesText  string
	stages      []pacing.Stage // set by check
}

func (s *shapeFlags) flags() []cli.Flag {
	s.arrivalFlag = &flagtype.Choice{Name: "arrival", Value: evenArrivals, Config: flagtype.Choices{evenArrivals, poissonArrivals}, Destination: &s.arrival,
		Usage: "with --rps-limit or --stages: requests are due `WHEN`: even (at equal intervals) or poisson (at random, as from many users)"}
	return []cli.Flag{s.arrivalFlag, &cli.StringFlag{Name: "stages", Destination: &s.stagesText,
		Usage: "change the rate of requests in `STAGES`, such as '1m@1000, 5m@1000..5000, 1m@5000' (requests/s)"}}
}

// checkShape parses the stages, which set the duration, and returns an error for flags that contradict each other.
func (f *Flags) checkShape() (err error) {
	s := &f.shape
	s.stages = nil
	if s.stagesText == "" {
		if f.rps == 0 && s.arrivalFlag.IsSet() {
			return exit.Usagef("--arrival=%s needs a rate", s.arrival).WithHint("add --rps-limit=N or --stages")
		}
		return nil
	}
	if s.stages, err = pacing.ParseStages(s.stagesText); err != nil {
		return exit.Usagef("--stages: %w", err)
	}
	switch {
	case f.rps > 0:
		return exit.Usagef("--stages and --rps-limit cannot be combined: the stages have the rates")
	case f.Ends.durationFlag.IsSet():
		return exit.Usagef("--stages and --duration cannot be combined: the stages have their lengths")
	case f.Ends.forever, f.Ends.Passes, f.Ends.maxObjects > 0, f.Ends.totalSize > 0, f.Ends.warmup > 0, f.Autoterm.On:
		return exit.Usagef("--stages cannot be combined with --forever, --epochs, --max-objects, --total-size, --warmup and --autoterm: the run ends with its last stage")
	}
	f.Ends.Duration = pacing.StagesLength(s.stages)
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
