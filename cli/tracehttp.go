package cli

import (
	"github.com/urfave/cli/v3"
)

// traceFlags are about the phases of HTTP requests.
type traceFlags struct {
	on     bool
	sample int
}

// traceSample is one in so few that rare phases are seen in a short run, and in
// so many that the run stays as fast as it is.
const traceSample = 10

func (f *traceFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "trace-http", Destination: &f.on,
			Usage: "report what the time of a sample of requests went into: DNS, connect, TLS, send, wait, receive; SIGHUP switches that off and on"},
		&cli.IntFlag{Name: "trace-http-sample", Hidden: true, Value: traceSample, Destination: &f.sample, Validator: atLeast(1),
			Usage: "with HTTP tracing: look at one request in `N`, chosen at random, and at each new connection"},
	}
}

// watchHangups has SIGHUP toggle the tracing of HTTP until stop is called.
// Whoever has hung-up terminals ignored, as nohup does, means that to stay so
// unless tracing is asked for.
func (s *session) watchHangups() (stop func()) {
	signals, end := hangups(s.flags.trace.on)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-signals:
			}
			state := "off"
			if s.runner.ToggleTrace() {
				state = "on"
			}
			// A terminal that is gone or stopped must not hold up the next signal.
			go s.notef("HTTP tracing is %s", state)
		}
	}()
	return func() {
		end()
		close(done)
		<-ended
	}
}
