// Package exports sends the figures of a run to InfluxDB, StatsD and Prometheus.
package exports

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"warp/cli/command"
	"warp/cli/exit"
	"warp/cli/flagtype"
	"warp/cli/terminal/console"
	"warp/internal/human"
	"warp/pkg/bench"
	"warp/pkg/bench/recording"
	"warp/pkg/sink"
)

// Flags choose the destinations of a run's metrics. The op log is not one of them.
type Flags struct {
	StatsD       string // HOST:PORT
	StatsDLoader string // see [sink.Destinations]

	influx, metrics, gateway string
	influxEvery, statsdProbe bool
	influxInterval           time.Duration
	influxIntervalGiven      func() bool
}

// Flags returns the flags.
func (f *Flags) Flags(env command.Environment) []cli.Flag {
	interval := &flagtype.Duration{Name: "influxdb-interval", Hidden: true, Value: time.Second, Destination: &f.influxInterval, Validator: flagtype.Takes(sink.MinInterval),
		Usage: "with --influxdb: send a point per series every `TIME`"}
	f.influxIntervalGiven = interval.IsSet
	return []cli.Flag{
		&cli.StringFlag{Name: "influxdb", Destination: &f.influx, Sources: env.Vars("WARP_INFLUXDB_CONNECT"),
			Usage: "send totals to InfluxDB 2 at `URL`: http://TOKEN@HOST:8086/BUCKET/ORG?TAG=VALUE"},
		interval,
		&cli.BoolFlag{Name: "influxdb-every-request", Hidden: true, Destination: &f.influxEvery, Usage: "with --influxdb: also send a point per request"},
		&cli.StringFlag{Name: "statsd", Hidden: true, Destination: &f.StatsD, Usage: "send metrics to StatsD at `HOST:PORT`"},
		&cli.BoolFlag{Name: "statsd-probe", Hidden: true, Value: true, Destination: &f.statsdProbe,
			Usage: "with --statsd: fail at the start if nothing seems to listen there"},
		&cli.StringFlag{Name: "metrics", Destination: &f.metrics, Usage: "serve metrics to Prometheus at `ADDRESS`, under /metrics"},
		&cli.StringFlag{Name: "pushgateway", Hidden: true, Destination: &f.gateway, Usage: "push metrics to the Pushgateway of Prometheus at `URL`"},
	}
}

// Check returns an error if the flags cannot work, without a request.
func (f *Flags) Check() error {
	switch {
	case f.influx == "" && (f.influxEvery || f.influxIntervalGiven()):
		return exit.Usagef("--influxdb-every-request and --influxdb-interval need --influxdb")
	case f.StatsD == "" && !f.statsdProbe:
		return exit.Usagef("--statsd-probe needs --statsd")
	}
	if f.influx != "" {
		o, err := sink.ParseInflux(f.influx)
		if err != nil {
			return exit.Usagef("--influxdb %w", err)
		}
		server, _ := url.Parse(o.Server)
		if err := checkReceiver("influxdb", server); err != nil {
			return err
		}
	}
	if f.gateway != "" {
		u, err := url.Parse(f.gateway)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
			return exit.Usagef("--pushgateway: %q is not a URL such as http://HOST:9091", f.gateway)
		}
		if err := checkReceiver("pushgateway", u); err != nil {
			return err
		}
	}
	if err := checkAddress("statsd", f.StatsD, true); err != nil {
		return err
	}
	return checkAddress("metrics", f.metrics, false)
}

// checkReceiver refuses a URL without a host, or to which nothing can be sent.
func checkReceiver(flag string, u *url.URL) error {
	if u.Port() == "" {
		return checkAddress(flag, net.JoinHostPort(u.Hostname(), "80"), true)
	}
	return checkAddress(flag, u.Host, true)
}

// checkAddress refuses an address that no host has. Port 0 is any free port of a listener.
func checkAddress(flag, address string, sends bool) error {
	if address == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return exit.Usagef("--%s: %q is not a HOST:PORT", flag, address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return exit.Usagef("--%s: the port of %q is not a number up to 65535", flag, address)
	case n == 0 && sends:
		return exit.Usagef("--%s: %q has port 0, to which nothing can be sent", flag, address)
	case strings.Trim(host, "0123456789.") == "" && host != "" && net.ParseIP(host) == nil:
		return exit.Usagef("--%s: %q is not an IP address", flag, host)
	}
	return nil
}

// Exports send the figures of one run.
type Exports struct {
	*sink.Exports                  // nil at a coordinator, whose clients have them
	prometheus    *sink.Prometheus // nil without --metrics and --pushgateway
}

// Destinations returns the destinations for the process that makes the load. The flags were checked before.
func (f *Flags) Destinations() sink.Destinations {
	d := sink.Destinations{StatsD: f.StatsD, StatsDProbe: f.statsdProbe, StatsDLoader: f.StatsDLoader, Metrics: f.showsMetrics()}
	if f.influx != "" {
		o, _ := sink.ParseInflux(f.influx)
		o.Every, o.Interval = f.influxEvery, f.influxInterval
		d.Influx = &o
	}
	return d
}

// A Source is the run whose figures are exported.
type Source struct {
	*console.Console
	Options *bench.Options
	Clients func() []sink.ClientCounts // counts of clients on other machines; nil if this process makes the load
}

// Open opens the exports, except those that clients open. What fails at once is an
// error; later failures do not affect the load.
func (f *Flags) Open(ctx context.Context, run Source) (all Exports, err error) {
	d, metrics, instance := f.Destinations(), run.Clients, run.Options.RunID
	if metrics == nil {
		if all.Exports, err = d.Open(ctx, run.Options.ClientID, func(text string) { run.Warnf("%s", text) }); err != nil {
			return all, exit.Errorf("%w", err)
		}
		metrics, instance = all.Metrics.Clients, run.Options.ClientID
	}
	if d.Metrics {
		if all.prometheus, err = f.openPrometheus(run, instance, metrics); err != nil {
			all.Close()
		}
	}
	return all, err
}

func (f *Flags) showsMetrics() bool { return f.metrics != "" || f.gateway != "" }

// openPrometheus exports what clients returns; instance identifies the run at the Pushgateway.
func (f *Flags) openPrometheus(run Source, instance string, clients func() []sink.ClientCounts) (*sink.Prometheus, error) {
	p := sink.NewPrometheus(run.Options.Benchmark, clients)
	if f.metrics != "" {
		addr, err := p.Serve(f.metrics)
		if err != nil {
			return nil, exit.Errorf("--metrics: %w", err)
		}
		run.Notef("metrics at http://%s/metrics", addr)
	}
	if f.gateway != "" {
		p.Push(strings.TrimSuffix(f.gateway, "/"), instance)
	}
	return p, nil
}

// Sinks returns the sinks for the records of the run.
func (all *Exports) Sinks() (sinks []recording.Sink) {
	if all.Exports == nil {
		return nil
	}
	for _, e := range all.All {
		sinks = append(sinks, e)
	}
	return sinks
}

// Close closes the sinks and returns a note for each that lost records.
func (all *Exports) Close() (lost []string) {
	lost = all.Exports.Close()
	if all.prometheus != nil {
		if text := all.prometheus.Close(); text != "" {
			lost = append(lost, text)
		}
	}
	return lost
}

// End closes the sinks that a failed run has left open, and waits until Prometheus has fetched the last metrics.
func (all *Exports) End(ctx context.Context, out *console.Console) {
	all.Close()
	p := all.prometheus
	if p == nil {
		return
	}
	if d := p.ScrapeWait(); d > 0 && ctx.Err() == nil {
		out.Notef("serving the last metrics until they are fetched, for %s at most (Ctrl-C ends that)", human.Duration(d.Round(time.Second)))
	}
	p.End(ctx)
}
