package session

import (
	"github.com/urfave/cli/v3"

	"warp/cli/flagtype"
)

// traceFlags are about the phases of HTTP requests.
type traceFlags struct {
	On     bool
	Sample int
}

// traceSample is one in so few that rare phases are seen in a short run, and in
// so many that the run stays as fast as it is.
const traceSample = 10

func (f *traceFlags) Flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "trace-http", Destination: &f.On,
			Usage: "measure the phases of a sample of requests: DNS, connect, TLS, send, wait, receive; SIGHUP toggles it"},
		&cli.IntFlag{Name: "trace-http-sample", Hidden: true, Value: traceSample, Destination: &f.Sample, Validator: flagtype.AtLeast(1),
			Usage: "with --trace-http: sample one request in `N` at random, and every new connection"},
	}
}
